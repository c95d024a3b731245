import CGtk
import Foundation
import GTK

/// A picture in a space of fixed size, whatever the size of the picture.
///
/// A `GtkPicture` requests the size of its picture. As an overlay it requests nothing, and takes the space it gets.
@MainActor
final class FixedPicture {
    let root: Widget = gtk_overlay_new()
    private let space: Widget = Make.row()
    private let picture: Widget = gtk_picture_new()

    init(_ size: CGSize) {
        gtk_overlay_set_child(root.opaque, space)
        add(picture)
        gtk_picture_set_can_shrink(picture.opaque, 1)
        gtk_widget_set_halign(root, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(root, GTK_ALIGN_CENTER)
        gtk_widget_set_overflow(root, GTK_OVERFLOW_HIDDEN)
        resize(to: size)
    }

    func resize(to size: CGSize) {
        gtk_widget_set_size_request(space, Int32(size.width), Int32(size.height))
    }

    /// The description for screen readers.
    func describe(as words: String) {
        gtk_picture_set_alternative_text(picture.opaque, words)
        picture.describe(as: words)
    }

    /// Lays a widget over the picture.
    func add(_ widget: Widget) {
        gtk_overlay_add_overlay(root.opaque, widget)
    }

    /// - Parameter fills: whether the texture has the aspect ratio of the space; otherwise it covers the space.
    func show(_ texture: Texture?, fills: Bool = true) {
        gtk_picture_set_content_fit(picture.opaque, fills ? GTK_CONTENT_FIT_FILL : GTK_CONTENT_FIT_COVER)
        gtk_picture_set_paintable(picture.opaque, texture?.pointer)
    }
}
