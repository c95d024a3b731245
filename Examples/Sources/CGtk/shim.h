#pragma once
#include <gtk/gtk.h>
#include <glib-unix.h>

// What CFRunLoop drives the main queue by (libdispatch, private/private.h); GLib's loop does the same in GTK/MainLoop.swift.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);
