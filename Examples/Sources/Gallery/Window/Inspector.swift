import CGtk
import GTK
import GalleryModel

/// The figures of the library, live, one per line. It updates four times a second while it is visible.
@MainActor
final class Inspector {
    let root: Widget = gtk_revealer_new()
    private var values: [(label: Widget, shown: String)] = []
    private let rows: @MainActor () -> [Figures.Row]

    init(rows: @escaping @MainActor () -> [Figures.Row]) {
        self.rows = rows
        let column = Make.column(spacing: 2)
        gtk_widget_add_css_class(column, "inspector")
        var group: String?
        for row in rows() {
            if row.group != group {
                gtk_box_append(column.cast(), Make.label(row.group, classes: "heading", leading: true))
            }
            group = row.group
            gtk_box_append(column.cast(), line(row))
        }
        gtk_revealer_set_child(root.opaque, column)
        gtk_widget_set_hexpand(root, 0)  // although its lines expand
        gtk_revealer_set_transition_type(root.opaque, GTK_REVEALER_TRANSITION_TYPE_SLIDE_LEFT)
        column.on("map") { [weak self] in self?.follow(column) }
    }

    private func line(_ row: Figures.Row) -> Widget {
        let name = Make.label(row.name, classes: "name", leading: true)
        let value = Make.label(row.value, classes: "value")
        gtk_widget_set_hexpand(name, 1)
        values.append((value, row.value))
        return Make.row(spacing: 12, name, value)
    }

    /// Whether the inspector is visible.
    var isOpen: Bool {
        get { gtk_revealer_get_reveal_child(root.opaque) != 0 }
        set { gtk_revealer_set_reveal_child(root.opaque, newValue ? 1 : 0) }
    }

    private func follow(_ column: Widget) {
        refresh()
        MainLoop.every(milliseconds: 250) { [weak self] in
            guard let self, column.isMapped else { return false }
            refresh()
            return true
        }
    }

    /// Shows the current figures. A changed label costs a layout, so only labels with a new value are set.
    func refresh() {
        for (index, row) in rows().enumerated() where values.indices.contains(index) && values[index].shown != row.value
        {
            values[index].shown = row.value
            gtk_label_set_text(values[index].label.opaque, row.value)
        }
    }
}
