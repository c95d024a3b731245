import CGtk
import GTK
import GalleryModel

/// The bar at the top of the window.
@MainActor
final class HeaderBar {
    struct Actions {
        var back: @MainActor () -> Void
        var reload: @MainActor () -> Void
        var clear: @MainActor () -> Void
        var sort: @MainActor (Arrangement) -> Void
        var setOffline: @MainActor (Bool) -> Void
        var setInspector: @MainActor (Bool) -> Void
        var setDark: @MainActor (Bool) -> Void
    }

    let root: Widget = gtk_header_bar_new()
    private let title = Make.label(classes: "heading")
    private let subtitle = Make.label(classes: "count")
    private let back: Widget
    private let sort: Widget
    private let offline: Widget
    private let inspector: Widget
    private let dark: Widget

    init(_ state: SavedState, isOffline: Bool, isDark: Bool, _ actions: Actions) {
        back = Make.button(icon: "go-previous-symbolic", "Back to all photographs", action: actions.back)
        let orders = Arrangement.allCases
        sort = Make.choice(orders.map(\.words), selected: orders.firstIndex(of: state.order) ?? 0, "Order") { index in
            if orders.indices.contains(index) { actions.sort(orders[index]) }
        }
        offline = Make.toggle(
            icon: "airplane-mode-symbolic", "Offline: show stored photographs only", isOn: isOffline,
            action: actions.setOffline)
        inspector = Make.toggle(
            icon: "power-profile-performance-symbolic", "Inspector", isOn: state.showsInspector,
            action: actions.setInspector)
        dark = Make.toggle(icon: "weather-clear-night-symbolic", "Dark style", isOn: isDark, action: actions.setDark)
        let reload = Make.button(icon: "view-refresh-symbolic", "Reload", action: actions.reload)
        let clear = Make.button(icon: "user-trash-symbolic", "Clear the cache", action: actions.clear)
        let titles = Make.column(title, subtitle)
        gtk_widget_set_valign(titles, GTK_ALIGN_CENTER)
        gtk_header_bar_set_title_widget(root.opaque, titles)
        for widget in [back, sort] { gtk_header_bar_pack_start(root.opaque, widget) }
        for widget in [inspector, dark, clear, reload, offline] { gtk_header_bar_pack_end(root.opaque, widget) }
        gtk_widget_set_visible(back, 0)
    }

    func show(title: String, subtitle: String, isDetail: Bool) {
        gtk_label_set_text(self.title.opaque, title)
        gtk_label_set_text(self.subtitle.opaque, subtitle)
        gtk_widget_set_visible(self.subtitle, subtitle.isEmpty ? 0 : 1)
        gtk_widget_set_visible(back, isDetail ? 1 : 0)
        gtk_widget_set_visible(sort, isDetail ? 0 : 1)
    }

    /// Acts as if the user had pressed the button.
    func set(offline isOn: Bool) { set(offline, isOn) }
    func toggleInspector() { toggle(inspector) }
    func toggleDark() { toggle(dark) }
    func toggleOffline() { toggle(offline) }

    private func toggle(_ button: Widget) {
        set(button, gtk_toggle_button_get_active(button.cast()) == 0)
    }

    private func set(_ button: Widget, _ isOn: Bool) {
        gtk_toggle_button_set_active(button.cast(), isOn ? 1 : 0)
    }
}
