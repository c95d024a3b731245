#include "yardsticks.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 1024 };

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static char *random_bytes(int size) {
  char *bytes = malloc((size_t)size);
  for (int i = 0; bytes && i < size; i++) bytes[i] = (char)(rand() >> 8);
  return bytes;
}

static int write_file(const char *path, const char *bytes, int size) {
  int file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return 0;
  int ok = write(file, bytes, (size_t)size) == size;
  return close(file) == 0 && ok;
}

int64_t yardstick_write_files(const char *directory, int count, int size) {
  char path[PATH_SIZE];
  char *bytes = random_bytes(size);
  int64_t start = now();
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%s/%d", directory, i);
    if (!bytes || !write_file(path, bytes, size)) { free(bytes); return -1; }
  }
  free(bytes);
  return now() - start;
}

static int scattered(int i, int files) { return (int)((int64_t)i * 7919 % files); }

int64_t yardstick_read_files(const char *directory, int files, int count, int size) {
  char path[PATH_SIZE];
  struct stat status;
  int64_t start = now();
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%s/%d", directory, scattered(i, files));
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) return -1;
    char *copy = malloc((size_t)status.st_size);
    ssize_t done = copy ? read(file, copy, (size_t)status.st_size) : -1;
    free(copy);
    close(file);
    if (done != size) return -1;
  }
  return now() - start;
}

int64_t yardstick_map_files(const char *directory, int files, int count, int size) {
  char path[PATH_SIZE];
  struct stat status;
  volatile uint64_t sum = 0;
  int64_t start = now();
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%s/%d", directory, scattered(i, files));
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0 || status.st_size != size) return -1;
    char *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) return -1;
    // A mapping reads nothing until its pages are touched.
    const uint64_t *words = (const uint64_t *)bytes;
    uint64_t all = 0;
    for (int word = 0; word < size / 8; word++) all += words[word];
    sum += all;
    munmap(bytes, (size_t)size);
    close(file);
  }
  return now() - start;
}

int64_t yardstick_replace_files(const char *directory, int count, int size) {
  char path[PATH_SIZE], temporary[PATH_SIZE];
  char *bytes = random_bytes(size);
  int64_t start = now();
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%s/%d", directory, i);
    snprintf(temporary, sizeof temporary, "%s/new-%d", directory, i);
    if (!bytes || !write_file(temporary, bytes, size) || rename(temporary, path) != 0) { free(bytes); return -1; }
  }
  free(bytes);
  return now() - start;
}

int64_t yardstick_insert_rows(const char *path, int count, int size, int batch) {
  sqlite3 *database;
  sqlite3_stmt *insert;
  char *bytes = random_bytes(size);
  int64_t result = -1;
  if (sqlite3_open(path, &database) != SQLITE_OK) return -1;
  sqlite3_exec(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
  sqlite3_exec(database, "CREATE TABLE responses (id INTEGER PRIMARY KEY, key INTEGER UNIQUE, body BLOB)", NULL, NULL, NULL);
  if (sqlite3_prepare_v2(database, "INSERT INTO responses (key, body) VALUES (?, ?)", -1, &insert, NULL) == SQLITE_OK) {
    int64_t start = now();
    int failed = 0;
    for (int i = 0; i < count && !failed; i++) {
      if (batch > 1 && i % batch == 0) sqlite3_exec(database, "BEGIN", NULL, NULL, NULL);
      sqlite3_bind_int64(insert, 1, (int64_t)((uint64_t)(i + 1) * 0x9E3779B97F4A7C15u));
      sqlite3_bind_blob(insert, 2, bytes, size, SQLITE_STATIC);
      failed = sqlite3_step(insert) != SQLITE_DONE;
      sqlite3_reset(insert);
      if (batch > 1 && (i % batch == batch - 1 || i == count - 1)) sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    }
    result = failed ? -1 : now() - start;
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
  free(bytes);
  return result;
}

int64_t yardstick_open_and_select(const char *path, const char *sql, int64_t parameter) {
  sqlite3 *database;
  sqlite3_stmt *select = NULL;
  int64_t result = -1;
  int64_t start = now();
  if (sqlite3_open(path, &database) == SQLITE_OK && sqlite3_prepare_v2(database, sql, -1, &select, NULL) == SQLITE_OK) {
    sqlite3_bind_int64(select, 1, parameter);
    if (sqlite3_step(select) == SQLITE_ROW) {
      for (int column = 0; column < sqlite3_column_count(select); column++) sqlite3_column_blob(select, column);
      result = now() - start;
    }
  }
  sqlite3_finalize(select);
  sqlite3_close(database);
  return result;
}

int64_t yardstick_make_blobs(const char *path, int count, int size) { return yardstick_insert_rows(path, count, size, count); }

int64_t yardstick_read_blobs(const char *path, int count) {
  sqlite3 *database;
  sqlite3_stmt *select = NULL;
  int64_t start = now(), found = 0;
  if (sqlite3_open(path, &database) == SQLITE_OK &&
      sqlite3_prepare_v2(database, "SELECT body FROM responses WHERE id = ?", -1, &select, NULL) == SQLITE_OK) {
    for (int i = 0; i < count; i++) {
      sqlite3_bind_int64(select, 1, scattered(i, count) + 1);
      if (sqlite3_step(select) != SQLITE_ROW) break;
      size_t size = (size_t)sqlite3_column_bytes(select, 0);
      char *copy = malloc(size);
      if (!copy) break;
      memcpy(copy, sqlite3_column_blob(select, 0), size);
      free(copy);
      found++;
      sqlite3_reset(select);
    }
  }
  sqlite3_finalize(select);
  sqlite3_close(database);
  return found == count ? now() - start : -1;
}
