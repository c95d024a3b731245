import CGtk
import GTK

/// Replaces a picture that could not be loaded: a button that loads it again.
@MainActor
struct FailurePicture {
    let root: Widget = gtk_button_new()

    init() {
        let icon: Widget = gtk_image_new_from_icon_name("image-missing-symbolic")
        gtk_image_set_pixel_size(icon.opaque, 32)
        let words = Make.column(spacing: 6, icon, Make.label("Retry", classes: "caption"))
        gtk_widget_set_valign(words, GTK_ALIGN_CENTER)
        gtk_button_set_child(root.cast(), words)
        gtk_widget_add_css_class(root, "failure")
        gtk_widget_set_tooltip_text(root, "The picture could not be loaded. Retry.")
        root.describe(as: "The picture could not be loaded. Retry.")
        gtk_widget_set_visible(root, 0)
    }
}
