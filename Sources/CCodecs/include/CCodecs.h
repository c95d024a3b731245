// libjpeg-turbo and libpng behind functions that return, and the inner loops of scaling. Both libraries report errors by
// longjmp, which must not pass over Swift's frames: here it passes over none but these files' and the libraries' own.
#ifndef CCODECS_H
#define CCODECS_H

#include "colors.h"
#include "jpeg.h"
#include "planes.h"
#include "png_rows.h"
#include "scaling.h"

#endif
