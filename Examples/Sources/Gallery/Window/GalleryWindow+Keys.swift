import CGtk
import GTK

extension GalleryWindow {
    /// Handles a key. Returns whether the key has a meaning.
    func take(_ key: Key) -> Bool {
        if key.hasControl { return takeCommand(key) }
        if key.value == Int(GDK_KEY_F5) { reload() } else if isDetail { return takeInDetail(key) } else { return false }
        return true
    }

    private func takeCommand(_ key: Key) -> Bool {
        switch Int32(key.value) {
        case GDK_KEY_r: reload()
        case GDK_KEY_i: header?.toggleInspector()
        case GDK_KEY_d: header?.toggleDark()
        case GDK_KEY_o: header?.toggleOffline()
        case GDK_KEY_w, GDK_KEY_q: gtk_window_close(window.cast())
        default: return false
        }
        return true
    }

    private func takeInDetail(_ key: Key) -> Bool {
        switch Int32(key.value) {
        case GDK_KEY_Escape, GDK_KEY_BackSpace: closeDetail()
        case GDK_KEY_Right where detail.isZoomed, GDK_KEY_Left where detail.isZoomed: return false  // it scrolls
        case GDK_KEY_Page_Down, GDK_KEY_Right: detail.go(by: 1)
        case GDK_KEY_Page_Up, GDK_KEY_Left: detail.go(by: -1)
        case GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add: detail.zoom(.larger)
        case GDK_KEY_minus, GDK_KEY_KP_Subtract: detail.zoom(.smaller)
        case GDK_KEY_0, GDK_KEY_KP_0: detail.zoom(.fitted)
        case GDK_KEY_1, GDK_KEY_KP_1: detail.zoom(.full)
        default: return false
        }
        return true
    }
}
