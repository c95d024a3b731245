import CGtk
import Foundation
import GTK
import GalleryModel

/// The caption of the photograph above it, and the zoom controls.
@MainActor
final class CaptionBar {
    let root: Widget
    private let title = Make.label(classes: "name", leading: true)
    private let credit = Make.label(classes: "author", leading: true)
    private let percent = Make.label(classes: "zoom")
    /// Device pixels per stored pixel, as shown last.
    private(set) var zoom: Double?
    var zoomChosen: @MainActor (DetailPage.Zoom) -> Void = { _ in }

    init() {
        let words = Make.column(spacing: 1, title, credit)
        gtk_widget_set_hexpand(words, 1)
        for label in [title, credit] { gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END) }
        root = Make.row(spacing: 6, words)
        gtk_widget_add_css_class(root, "caption-bar")
        for widget in [
            button("zoom-out-symbolic", "Zoom out", .smaller), percent, button("zoom-in-symbolic", "Zoom in", .larger),
            button("zoom-fit-best-symbolic", "Fit to window", .fitted),
            button("zoom-original-symbolic", "Original size", .full),
        ] {
            gtk_widget_set_valign(widget, GTK_ALIGN_CENTER)
            gtk_box_append(root.cast(), widget)
        }
    }

    private func button(_ icon: String, _ words: String, _ zoom: DetailPage.Zoom) -> Widget {
        let button = Make.button(icon: icon, words) { [weak self] in self?.zoomChosen(zoom) }
        gtk_widget_add_css_class(button, "flat")
        return button
    }

    func show(_ photograph: Photograph, zoom: Double) {
        self.zoom = zoom
        gtk_label_set_text(title.opaque, photograph.item.alternativeText)
        let parts = [photograph.item.credit, photograph.dimensions].filter { !$0.isEmpty }
        gtk_label_set_text(credit.opaque, parts.joined(separator: " · "))
        gtk_label_set_text(percent.opaque, "\(Int((zoom * 100).rounded())) %")
    }
}
