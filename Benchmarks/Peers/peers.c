// Decodes one file again and again with a library, as bench-images tells it to: peers vips|gdk|giflib OPERATION FILE
//
// Operations: full, thumbnail, frames. It says that it is ready; for each line that it reads it decodes once, and answers
// with nanoseconds of CPU. A line that is not empty names a file to write the picture to.
//
// With process-crop, -fill, -corners or -blur-SIGMA it processes a picture of 400 pixels, twenty times for each line, and
// answers with nanoseconds for one.
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <gif_lib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vips/vips.h>

enum { SIDE = 256 };

static void fail(const char *message) {
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static void vips(const char *operation, const char *path, const char *target) {
    VipsImage *image = NULL;
    size_t size;
    int failed = strcmp(operation, "thumbnail") == 0
        ? vips_thumbnail(path, &image, SIDE, "height", SIDE, NULL)
        : !(image = vips_image_new_from_file(path, "access", VIPS_ACCESS_SEQUENTIAL, NULL));
    if (failed) fail(vips_error_buffer());
    void *pixels = vips_image_write_to_memory(image, &size);
    if (!pixels) fail(vips_error_buffer());
    if (*target) {
        VipsImage *copy = vips_image_new_from_memory(pixels, size, image->Xsize, image->Ysize, image->Bands, image->BandFmt);
        if (vips_pngsave(copy, target, NULL)) fail(vips_error_buffer());
        g_object_unref(copy);
    }
    g_free(pixels);
    g_object_unref(image);
}

static void gdk(const char *operation, const char *path, const char *target) {
    GError *error = NULL;
    GdkPixbuf *image = strcmp(operation, "thumbnail") == 0
        ? gdk_pixbuf_new_from_file_at_scale(path, SIDE, SIDE, TRUE, &error)
        : gdk_pixbuf_new_from_file(path, &error);
    if (!image || (*target && !gdk_pixbuf_save(image, target, "png", &error, NULL))) fail(error->message);
    g_object_unref(image);
}

// Each frame drawn over the one before, as the animation of the benchmark wants it: kept, opaque but for one colour.
static void giflib(const char *operation, const char *path, const char *target) {
    int error;
    GifFileType *file = DGifOpenFileName(path, &error);
    if (!file || DGifSlurp(file) != GIF_OK) fail("giflib could not read it");
    size_t area = (size_t)file->SWidth * file->SHeight;
    uint32_t *canvas = calloc(area, 4);
    for (int index = 0; index < file->ImageCount; index++) {
        SavedImage *frame = &file->SavedImages[index];
        ColorMapObject *map = frame->ImageDesc.ColorMap ? frame->ImageDesc.ColorMap : file->SColorMap;
        GraphicsControlBlock control = {.TransparentColor = NO_TRANSPARENT_COLOR};
        DGifSavedExtensionToGCB(file, index, &control);
        uint32_t colours[256] = {0};
        for (int i = 0; i < map->ColorCount; i++)
            colours[i] = 0xFF000000u | map->Colors[i].Red << 16 | map->Colors[i].Green << 8 | map->Colors[i].Blue;
        const GifImageDesc *area = &frame->ImageDesc;
        for (int y = 0; y < area->Height; y++)
            for (int x = 0; x < area->Width; x++) {
                int colour = frame->RasterBits[y * area->Width + x];
                if (colour != control.TransparentColor)
                    canvas[(size_t)(area->Top + y) * file->SWidth + area->Left + x] = colours[colour];
            }
        uint32_t *shown = malloc((size_t)file->SWidth * file->SHeight * 4);  // what a caller is given
        memcpy(shown, canvas, (size_t)file->SWidth * file->SHeight * 4);
        free(shown);
    }
    free(canvas);
    DGifCloseFile(file, &error);
}

static VipsImage *small;

static void vips_process(const char *operation, const char *path, const char *target) {
    VipsImage *image = NULL, *mask = NULL, *alpha = NULL, *input;
    size_t size;
    int failed;
    if (!small) {
        if (vips_thumbnail(path, &image, 400, "height", 400, NULL) || !(small = vips_image_copy_memory(image)))
            fail(vips_error_buffer());
        g_object_unref(image);
        return;
    }
    // Vips caches nothing, but an operation on the same object would find its result there.
    if (vips_copy(small, &input, NULL)) fail(vips_error_buffer());
    operation += strlen("process-");
    if (strcmp(operation, "crop") == 0) failed = vips_crop(input, &image, 50, 0, 300, 300, NULL);
    else if (strcmp(operation, "fill") == 0)
        failed = vips_thumbnail_image(input, &image, 200, "height", 200, "crop", VIPS_INTERESTING_CENTRE, NULL);
    else if (strncmp(operation, "blur-", 5) == 0) failed = vips_gaussblur(input, &image, atof(operation + 5), NULL);
    else {
        char svg[200];
        int length = snprintf(
            svg, sizeof svg, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d'>"
            "<rect width='100%%' height='100%%' rx='24'/></svg>", small->Xsize, small->Ysize);
        failed = vips_svgload_buffer(svg, length, &mask, NULL) || vips_extract_band(mask, &alpha, 3, NULL)
            || vips_bandjoin2(input, alpha, &image, NULL);
    }
    void *pixels = failed ? NULL : vips_image_write_to_memory(image, &size);
    if (!pixels) fail(vips_error_buffer());
    g_free(pixels);
    g_object_unref(image);
    g_object_unref(input);
    if (mask) g_object_unref(mask), g_object_unref(alpha);
}

static GdkPixbuf *small_pixbuf;

static void gdk_process(const char *operation, const char *path, const char *target) {
    GError *error = NULL;
    if (!small_pixbuf) {
        small_pixbuf = gdk_pixbuf_new_from_file_at_scale(path, 400, 400, TRUE, &error);
        if (!small_pixbuf) fail(error->message);
        return;
    }
    GdkPixbuf *part = gdk_pixbuf_new_subpixbuf(small_pixbuf, 50, 0, 300, 300), *result;
    if (strcmp(operation, "process-crop") == 0) result = gdk_pixbuf_copy(part);
    else result = gdk_pixbuf_scale_simple(part, 200, 200, GDK_INTERP_BILINEAR);
    g_object_unref(result);
    g_object_unref(part);
}

int main(int argc, char **argv) {
    if (argc != 4) fail("peers vips|gdk|giflib OPERATION FILE");
    int is_vips = strcmp(argv[1], "vips") == 0, is_gdk = strcmp(argv[1], "gdk") == 0;
    int processes = strncmp(argv[2], "process-", 8) == 0, repeats = processes ? 20 : 1;
    void (*work)(const char *, const char *, const char *) = is_vips ? vips : is_gdk ? gdk : giflib;
    if (is_vips) {
        if (VIPS_INIT(argv[0])) fail(vips_error_buffer());
        vips_concurrency_set(1);
        vips_cache_set_max(0);
    }
    if (processes) {
        work = is_vips ? vips_process : gdk_process;
        work(argv[2], argv[3], "");  // decodes
    }
    char target[4096];
    puts("ready");
    fflush(stdout);
    while (fgets(target, sizeof target, stdin)) {
        struct timespec start, end;
        target[strcspn(target, "\n")] = 0;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
        for (int i = 0; i < repeats; i++) work(argv[2], argv[3], target);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        printf("%ld\n", ((end.tv_sec - start.tv_sec) * 1000000000L + end.tv_nsec - start.tv_nsec) / repeats);
        fflush(stdout);
    }
    return 0;
}
