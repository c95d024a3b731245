public import CGtk

/// One-line constructors for the widgets of the gallery.
@MainActor
public enum Make {
    /// A horizontal box.
    public static func row(spacing: Int32 = 0, _ children: Widget...) -> Widget {
        box(GTK_ORIENTATION_HORIZONTAL, spacing, children)
    }

    /// A vertical box.
    public static func column(spacing: Int32 = 0, _ children: Widget...) -> Widget {
        box(GTK_ORIENTATION_VERTICAL, spacing, children)
    }

    private static func box(_ orientation: GtkOrientation, _ spacing: Int32, _ children: [Widget]) -> Widget {
        let box: Widget = gtk_box_new(orientation, spacing)
        for child in children { gtk_box_append(box.cast(), child) }
        return box
    }

    /// A line of text.
    public static func label(_ text: String = "", classes: String..., leading: Bool = false) -> Widget {
        let label: Widget = gtk_label_new(text)
        if leading { gtk_label_set_xalign(label.opaque, 0) }
        classes.forEach { gtk_widget_add_css_class(label, $0) }
        return label
    }

    /// A button with an icon of the theme, and a label for screen readers.
    public static func button(icon: String, _ words: String, action: @escaping @MainActor () -> Void) -> Widget {
        let button: Widget = gtk_button_new_from_icon_name(icon)
        name(button, words)
        button.on("clicked", action)
        return button
    }

    /// A toggle button.
    public static func toggle(
        icon: String, _ words: String, isOn: Bool, action: @escaping @MainActor (Bool) -> Void
    ) -> Widget {
        let button: Widget = gtk_toggle_button_new()
        gtk_button_set_icon_name(button.cast(), icon)
        name(button, words)
        gtk_toggle_button_set_active(button.cast(), isOn ? 1 : 0)
        button.on("toggled") { action(gtk_toggle_button_get_active(button.cast()) != 0) }
        return button
    }

    /// A drop-down list.
    public static func choice(
        _ choices: [String], selected: Int, _ words: String, action: @escaping @MainActor (Int) -> Void
    ) -> Widget {
        let list = gtk_string_list_new(nil)
        for choice in choices { gtk_string_list_append(list, choice) }
        let dropDown: Widget = gtk_drop_down_new(list, nil)
        gtk_drop_down_set_selected(dropDown.opaque, guint(max(0, selected)))
        name(dropDown, words)
        dropDown.on("notify::selected") { action(Int(gtk_drop_down_get_selected(dropDown.opaque))) }
        return dropDown
    }

    private static func name(_ widget: Widget, _ words: String) {
        gtk_widget_set_tooltip_text(widget, words)
        widget.describe(as: words)
    }
}

extension UnsafeMutablePointer<GtkWidget> {
    /// Sets the label for screen readers.
    @MainActor
    public func describe(as words: String) {
        var value = GValue()
        g_value_init(&value, GType(16 << 2))  // G_TYPE_STRING, a macro
        g_value_set_string(&value, words)
        var property = GTK_ACCESSIBLE_PROPERTY_LABEL
        gtk_accessible_update_property_value(opaque, 1, &property, &value)
        g_value_unset(&value)
    }

    /// The scale factor of the widget's screen: pixels per point.
    @MainActor
    public var scale: Int { Int(gtk_widget_get_scale_factor(self)) }

    /// Whether the widget and its parents are on the screen.
    @MainActor
    public var isMapped: Bool { gtk_widget_get_mapped(self) != 0 }

    /// Sets the margins on all sides.
    @MainActor
    public func setMargins(_ size: Int32) {
        gtk_widget_set_margin_start(self, size)
        gtk_widget_set_margin_end(self, size)
        gtk_widget_set_margin_top(self, size)
        gtk_widget_set_margin_bottom(self, size)
    }
}
