import CGtk
import Foundation

/// Has GLib's loop run what is queued for the main queue, and so for the main actor.
///
/// A program that waits in GLib's loop never returns to `dispatchMain` or to a run loop, and its main queue would starve.
/// The queue has a file that becomes readable when there is something to do; the loop waits for it with its other files,
/// and no wake is in vain. That file is what CFRunLoop waits for too: on Linux an eventfd that stays readable until it is
/// read, on which the loop would spin.
public enum MainLoop {
    /// Begins to do so, for as long as the program runs. Call it once, on the main thread.
    @MainActor
    public static func adoptMainQueue() {
        let file = _dispatch_get_main_queue_handle_4CF()
        // Before the painting of the next frame, as input is: what has arrived is shown in it.
        g_unix_fd_add_full(
            G_PRIORITY_DEFAULT, file, G_IO_IN,
            { file, _, _ in
                var count: UInt64 = 0
                read(file, &count, 8)
                _dispatch_main_queue_callback_4CF(nil)
                return 1
            }, nil, nil)
    }

    /// Runs `action` on the main actor once the frame that is being made is on the screen.
    @MainActor
    public static func afterFrame(_ action: @escaping @MainActor () -> Void) {
        g_idle_add_full(
            GDK_PRIORITY_REDRAW + 1,
            { data in
                if let handler = Handler<Void>.of(data) { MainActor.assumeIsolated { handler.action() } }
                return 0
            }, Handler(action).retained(), { Handler<Void>.release($0) })
    }

    /// Runs `action` on the main actor again and again, until it returns false.
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
