// jpeglib.h needs FILE and size_t to be known.
#include <stdio.h>
#include <jpeglib.h>
