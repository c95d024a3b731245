// Empty without the library, which only a trait needs: tools such as `swift package dump-symbol-graph` read every module.
#if __has_include(<jxl/decode.h>)
#include <jxl/decode.h>
#endif
