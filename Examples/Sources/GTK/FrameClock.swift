import CGtk
import Glibc

/// Measures when frames start, and how long they take: handlers, layout and painting.
@MainActor
public final class FrameClock {
    private let clock: OpaquePointer

    /// The clock of a widget that is on the screen.
    public init?(of widget: Widget) {
        guard let clock = gtk_widget_get_frame_clock(widget) else { return nil }
        self.clock = clock
    }

    /// The times of a frame, in microseconds. They are measured, because the clock's own frame time is smoothed.
    public struct Frame: Sendable {
        /// The time at which it started.
        public let began: Int
        /// The time at which it was painted.
        public let ended: Int
        /// The CPU time of this thread at the start of the frame, since the program started.
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
