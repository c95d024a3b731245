// Empty without the library, which only a trait needs: tools such as `swift package dump-symbol-graph` read every module.
#if __has_include(<avif/avif.h>)
#include <avif/avif.h>
#endif
