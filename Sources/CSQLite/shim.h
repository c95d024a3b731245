#include <sqlite3.h>
#include <sys/statfs.h> // the type of a file system, which Glibc's module does not have
