// Empty without the library, which only a trait needs: tools such as `swift package dump-symbol-graph` read every module.
#if __has_include(<libheif/heif.h>)
#include <libheif/heif.h>
#endif
