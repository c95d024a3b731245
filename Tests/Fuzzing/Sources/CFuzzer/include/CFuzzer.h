#include <stddef.h>
#include <stdint.h>

// libFuzzer's own loop, for programs that have a main function (https://llvm.org/docs/LibFuzzer.html).
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
