import CGtk
import Foundation

/// Makes GLib's loop run the main queue, and so the main actor.
///
/// A program that waits in GLib's loop never returns to `dispatchMain` or to a run loop, so its main queue would starve.
/// The queue has a file descriptor that becomes readable when there is work. The loop waits for it with its other files,
/// so no wake-up is in vain. CFRunLoop waits for the same descriptor. On Linux it is an eventfd that stays readable until it is
/// read; without a read the loop would spin.
public enum MainLoop {
    /// Starts this for the rest of the program. Call it once, on the main thread.
    @MainActor
    public static func adoptMainQueue() {
        let file = _dispatch_get_main_queue_handle_4CF()
        // Before the next frame is painted, like input, so that the frame shows what has arrived.
        g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, file, G_IO_IN,
            { file, _, _ in
                var count: UInt64 = 0
                read(file, &count, 8)
                _dispatch_main_queue_callback_4CF(nil)
                return 1
            }, nil, nil)
    }

    /// Runs `action` on the main actor when the current frame is on the screen.
    @MainActor
    public static func afterFrame(_ action: @escaping @MainActor () -> Void) {
        g_idle_add_full(
            GDK_PRIORITY_REDRAW + 1,
            { data in
                if let handler = Handler<Void>.of(data) { MainActor.assumeIsolated { handler.action() } }
                return 0
            }, Handler(action).retained(), { Handler<Void>.release($0) })
    }

    /// Runs `action` on the main actor repeatedly, until it returns false.
    @MainActor
    public static func every(milliseconds: Int, _ action: @escaping @MainActor () -> Bool) {
        g_timeout_add_full(
            G_PRIORITY_DEFAULT, guint(max(1, milliseconds)),
            { data in
                Handler<Bool>.of(data).map { handler in MainActor.assumeIsolated { handler.action() } } == true ? 1 : 0
            },
            Handler(action).retained(), { Handler<Bool>.release($0) })
    }
}
