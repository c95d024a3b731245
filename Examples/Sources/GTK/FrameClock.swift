import CGtk
import Glibc

/// When frames begin, and how long they take: handlers, layout and painting.
@MainActor
public final class FrameClock {
    private let clock: OpaquePointer

    /// The clock of a widget that is on the screen.
    public init?(of widget: Widget) {
        guard let clock = gtk_widget_get_frame_clock(widget) else { return nil }
        self.clock = clock
    }

    /// What is known of a frame, in microseconds. It is measured, as the clock's own time of a frame is smoothed.
    public struct Frame: Sendable {
        /// The moment at which it began.
        public let began: Int
        /// The moment at which it was painted.
        public let ended: Int
        /// How long this thread had computed when it began, since the program was started.
        public let computed: Int
    }

    /// Calls `action` after each frame.
    public func observe(_ action: @escaping @MainActor (Frame) -> Void) {
        var (began, computed) = (0, 0)
        clock.on("before-paint") {
            began = g_get_monotonic_time()
            computed = Self.computed
        }
        clock.on("after-paint") {
            if began != 0 { action(Frame(began: began, ended: g_get_monotonic_time(), computed: computed)) }
            began = 0
        }
    }

    private static var computed: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }
}
