// libjpeg-turbo and libpng behind functions that return errors, and the inner loops of scaling and colours. Both libraries
// report errors by longjmp, which must not skip Swift frames. Here it only skips frames of these files and of the
// libraries.
#ifndef CCODECS_H
#define CCODECS_H

#include "colors.h"
#include "jpeg.h"
#include "planes.h"
#include "png_rows.h"
#include "scaling.h"

#endif
