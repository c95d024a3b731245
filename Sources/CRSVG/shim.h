// The part of librsvg's, cairo's and GObject's ABI that `SVGDecoder` calls. librsvg's own header includes those of GLib and
// cairo, which are in folders that only pkg-config knows.

typedef struct {
    void *class_of_instance;
} RsvgHandle;

typedef struct {
    double x, y, width, height;
} RsvgRectangle;

typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;
typedef enum { CAIRO_STATUS_SUCCESS = 0 } cairo_status_t;
typedef enum { CAIRO_FORMAT_ARGB32 = 0 } cairo_format_t;

/// `error` takes a GError; NULL leaves it.
RsvgHandle *rsvg_handle_new_from_data(const unsigned char *data, unsigned long length, void **error);
void rsvg_handle_set_dpi(RsvgHandle *handle, double dpi);
int rsvg_handle_render_document(RsvgHandle *handle, cairo_t *cairo, const RsvgRectangle *viewport, void **error);
void g_object_unref(void *object);

cairo_surface_t *cairo_image_surface_create_for_data(unsigned char *data, cairo_format_t format, int width, int height,
                                                     int stride);
cairo_status_t cairo_surface_status(cairo_surface_t *surface);
void cairo_surface_flush(cairo_surface_t *surface);
void cairo_surface_destroy(cairo_surface_t *surface);
cairo_t *cairo_create(cairo_surface_t *target);
void cairo_scale(cairo_t *cairo, double across, double down);
void cairo_destroy(cairo_t *cairo);
