// What can be done at best, in C: plain files and bare SQLite. Each function does one thing `count` times; all return
// nanoseconds for all of them together, or a negative number if something fails.
#include <stdint.h>

// Files: DIRECTORY/0, DIRECTORY/1, … of `size` bytes.
int64_t yardstick_write_files(const char *directory, int count, int size);
// open, fstat, read, close, in a scattered order, into memory that is allocated for each as a caller's would be.
int64_t yardstick_read_files(const char *directory, int files, int count, int size);
// open, fstat, mmap, touch every page, munmap, close.
int64_t yardstick_map_files(const char *directory, int files, int count, int size);
// A temporary file, written, and renamed.
int64_t yardstick_replace_files(const char *directory, int count, int size);

// SQLite: a rowid table of key and body in WAL mode, one transaction for each insert, or one for `batch` of them.
int64_t yardstick_insert_rows(const char *path, int count, int size, int batch);
// A rowid table of `count` blobs; and all of them, each read into memory that is allocated for it as a caller's would be.
int64_t yardstick_make_blobs(const char *path, int count, int size);
int64_t yardstick_read_blobs(const char *path, int count);
// Opens a database anew, prepares one statement and gets one row, which is read whole.
int64_t yardstick_open_and_select(const char *path, const char *sql, int64_t parameter);
