import CGtk
import GTK

/// A short message at the bottom of the window, for a moment.
@MainActor
final class Notice {
    let root: Widget = gtk_revealer_new()
    private let label = Make.label(classes: "notice")
    private var shown = 0

    init() {
        gtk_revealer_set_child(root.opaque, label)
        gtk_revealer_set_transition_type(root.opaque, GTK_REVEALER_TRANSITION_TYPE_CROSSFADE)
        gtk_widget_set_halign(root, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(root, GTK_ALIGN_END)
        gtk_widget_set_can_target(root, 0)
    }

    func show(_ words: String) {
        gtk_label_set_text(label.opaque, words)
        gtk_revealer_set_reveal_child(root.opaque, 1)
        shown += 1
        let mine = shown
        MainLoop.every(milliseconds: 4_000) { [weak self] in
            if let self, shown == mine { gtk_revealer_set_reveal_child(root.opaque, 0) }
            return false
        }
    }
}
