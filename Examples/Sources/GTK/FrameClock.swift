import CGtk

/// When frames begin, and how long they take: handlers, layout and painting.
@MainActor
public final class FrameClock {
    private let clock: OpaquePointer

    /// The clock of a widget that is on the screen.
    public init?(of widget: Widget) {
        guard let clock = gtk_widget_get_frame_clock(widget) else { return nil }
        self.clock = clock
    }

    /// Calls `frame` after each frame, with the moments at which it began and ended, in microseconds.
    ///
    /// They are measured, as the clock's own time of a frame is smoothed.
    public func observe(_ frame: @escaping @MainActor (_ began: Int, _ ended: Int) -> Void) {
        var began: Int = 0
        clock.on("before-paint") { began = g_get_monotonic_time() }
        clock.on("after-paint") {
            if began != 0 { frame(began, g_get_monotonic_time()) }
            began = 0
        }
    }
}
