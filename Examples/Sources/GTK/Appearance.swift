import CGtk

/// The appearance of the whole program.
@MainActor
public enum Appearance {
    /// Adds CSS rules to the theme.
    public static func add(css: String) {
        guard let display = gdk_display_get_default(), let provider = gtk_css_provider_new() else { return }
        gtk_css_provider_load_from_data(provider, css, -1)
        gtk_style_context_add_provider_for_display(
            display, OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
    }

    /// Chooses light or dark.
    public static func setDark(_ isDark: Bool) {
        settings?.set("gtk-application-prefer-dark-theme", isDark)
    }

    /// Sets the default font, such as `Cantarell 11`.
    public static func setFont(_ font: String) {
        settings?.set("gtk-font-name", font)
    }

    /// Turns animations on or off.
    public static func setAnimations(_ isOn: Bool) {
        settings?.set("gtk-enable-animations", isOn)
    }

    /// The preference of the desktop, if it has one.
    public static var systemPrefersDark: Bool {
        guard let source = g_settings_schema_source_get_default(),
            let schema = g_settings_schema_source_lookup(source, "org.gnome.desktop.interface", 1)
        else { return false }
        defer { g_settings_schema_unref(schema) }
        guard g_settings_schema_has_key(schema, "color-scheme") != 0,
            let settings = g_settings_new("org.gnome.desktop.interface")
        else { return false }
        defer { g_object_unref(settings) }
        guard let scheme = g_settings_get_string(settings, "color-scheme") else { return false }
        defer { g_free(scheme) }
        return String(cString: scheme) == "prefer-dark"
    }

    private static var settings: UnsafeMutableRawPointer? {
        gtk_settings_get_default().map { UnsafeMutableRawPointer($0) }
    }
}

extension UnsafeMutableRawPointer: ObjectPointer {
    public var address: UnsafeMutableRawPointer { self }
}
