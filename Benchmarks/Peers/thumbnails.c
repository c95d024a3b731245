// Thumbnails with gdk-pixbuf, files to bitmaps: thumbnails THREADS FILE…
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static char **files;
static int count;
static atomic_int next;

static void *work(void *unused) {
    for (int i; (i = next++) < count;) {
        GError *error = NULL;
        GdkPixbuf *small = gdk_pixbuf_new_from_file_at_scale(files[i], 256, 256, TRUE, &error);
        if (!small) {
            fprintf(stderr, "%s: %s\n", files[i], error->message);
            exit(1);
        }
        g_object_unref(small);
    }
    return unused;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t all[64];
    files = argv + 2;
    count = argc - 2;
    for (int i = 0; i < threads && i < 64; i++) pthread_create(&all[i], NULL, work, NULL);
    for (int i = 0; i < threads && i < 64; i++) pthread_join(all[i], NULL);
    return 0;
}
