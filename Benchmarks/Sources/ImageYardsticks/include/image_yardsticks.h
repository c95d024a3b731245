// What libjpeg takes, on this machine and now. Both return nanoseconds, or a negative number if the bytes are no JPEG.
#include <stddef.h>
#include <stdint.h>

// Reads the header `count` times, each time with a decoder of its own; all of them together.
int64_t yardstick_jpeg_headers(const uint8_t *bytes, size_t length, int count);
// Decodes the whole picture to BGRA; what `rows` rows of it took on average.
int64_t yardstick_jpeg_rows(const uint8_t *bytes, size_t length, int rows);
