import CGtk
public import ImageResource

/// A picture of a widget, drawn again instead of read from the screen.
@MainActor
public enum WindowPicture {
    /// The pixels of a widget that is on the screen; nil if it is not, or has no size.
    public static func of(_ widget: Widget) -> BitmapImage? {
        guard widget.isMapped, let native = gtk_widget_get_native(widget),
            let renderer = gtk_native_get_renderer(native), let paintable = gtk_widget_paintable_new(widget),
            let snapshot = gtk_snapshot_new()
        else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        // For a window this includes the frame, which is not part of the widget's size.
        let (width, height) = (
            gdk_paintable_get_intrinsic_width(paintable), gdk_paintable_get_intrinsic_height(paintable)
        )
        let scale = widget.scale
        gtk_snapshot_scale(snapshot, Float(scale), Float(scale))
        gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
        guard let node = gtk_snapshot_free_to_node(snapshot) else { return nil }
        defer { gsk_render_node_unref(node) }
        var size = graphene_rect_t()
        graphene_rect_init(&size, 0, 0, Float(Int(width) * scale), Float(Int(height) * scale))
        guard let texture = gsk_renderer_render_texture(renderer, node, &size) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        return BitmapImage(width: Int(width) * scale, height: Int(height) * scale, isOpaque: true) { pixels in
            // In cairo's format, which is the format of `BitmapImage`.
            gdk_texture_download(
                texture, pixels.baseAddress?.assumingMemoryBound(to: guchar.self), gsize(Int(width) * scale * 4))
        }
    }

    /// The middle of a widget in its window, including the frame, in points.
    public static func middle(of widget: Widget) -> (x: Double, y: Double)? {
        guard let root = gtk_widget_get_root(widget) else { return nil }
        var (from, to) = (graphene_point_t(), graphene_point_t())
        graphene_point_init(
            &from, Float(gtk_widget_get_width(widget)) / 2, Float(gtk_widget_get_height(widget)) / 2)
        guard gtk_widget_compute_point(widget, root.widget, &from, &to) != 0 else { return nil }
        var (left, top) = (0.0, 0.0)  // the size of the window's frame
        gtk_native_get_surface_transform(gtk_widget_get_native(widget), &left, &top)
        return (Double(to.x) + left, Double(to.y) + top)
    }
}
