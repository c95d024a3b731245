public import CGtk

/// Signals with closures instead of C functions and data pointers. With `G_CONNECT_SWAPPED` GLib passes the data first,
/// so one C function serves all signals whose other arguments are not needed.
extension ObjectPointer {
    /// Calls `action` for each emission.
    @MainActor
    public func on(_ signal: String, _ action: @escaping @MainActor () -> Void) {
        let function: @convention(c) (gpointer?) -> Void = { data in
            guard let handler = Handler<Void>.of(data) else { return }
            MainActor.assumeIsolated { handler.action() }
        }
        connect(signal, to: unsafeBitCast(function, to: GCallback.self), data: Handler(action).retained()) { data, _ in
            Handler<Void>.release(data)
        }
    }

    /// Calls `action`, which returns whether the signal is handled.
    @MainActor
    public func onRequest(_ signal: String, _ action: @escaping @MainActor () -> Bool) {
        let function: @convention(c) (gpointer?) -> gboolean = { data in
            guard let handler = Handler<Bool>.of(data) else { return 0 }
            return MainActor.assumeIsolated { handler.action() } ? 1 : 0
        }
        connect(signal, to: unsafeBitCast(function, to: GCallback.self), data: Handler(action).retained()) { data, _ in
            Handler<Bool>.release(data)
        }
    }

    /// Calls `action` with the signal's first argument, which is an object.
    @MainActor
    public func onObject(_ signal: String, _ action: @escaping @MainActor (OpaquePointer) -> Void) {
        let function: @convention(c) (gpointer?, OpaquePointer?) -> Void = { data, object in
            guard let handler = ArgumentHandler<Crossing, Void>.of(data) else { return }
            let object = Crossing(pointer: object)
            MainActor.assumeIsolated { handler.action(object) }
        }
        let handler = ArgumentHandler<Crossing, Void> { object in
            if let object = object.pointer { action(object) }
        }
        connect(signal, to: unsafeBitCast(function, to: GCallback.self), data: handler.retained()) { data, _ in
            ArgumentHandler<Crossing, Void>.release(data)
        }
    }

    /// Calls `action` with the signal's first argument, which is a position in a list.
    @MainActor
    public func onPosition(_ signal: String, _ action: @escaping @MainActor (Int) -> Void) {
        let function: @convention(c) (gpointer?, guint) -> Void = { data, position in
            guard let handler = ArgumentHandler<Int, Void>.of(data) else { return }
            MainActor.assumeIsolated { handler.action(Int(position)) }
        }
        connect(signal, to: unsafeBitCast(function, to: GCallback.self), data: ArgumentHandler(action).retained()) {
            data, _ in
            ArgumentHandler<Int, Void>.release(data)
        }
    }

    private func connect(
        _ signal: String, to function: GCallback, data: UnsafeMutableRawPointer, release: GClosureNotify
    ) {
        g_signal_connect_data(address, signal, function, data, release, G_CONNECT_SWAPPED)
    }
}

/// A key, as a controller reports it.
public struct Key: Sendable {
    /// One of GDK's `GDK_KEY_…`.
    public let value: Int
    /// Whether Control is pressed.
    public let hasControl: Bool
    /// Whether Alt is pressed.
    public let hasAlt: Bool
}

extension UnsafeMutablePointer<GtkWidget> {
    /// Calls `action` for each key that is pressed in the widget, before its children receive it. It returns whether the key is
    /// handled.
    @MainActor
    public func onKey(_ action: @escaping @MainActor (Key) -> Bool) {
        guard let controller = gtk_event_controller_key_new() else { return }
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        let function: @convention(c) (gpointer?, guint, guint, GdkModifierType) -> gboolean = { data, value, _, state in
            guard let handler = ArgumentHandler<Key, Bool>.of(data) else { return 0 }
            let key = Key(
                value: Int(value), hasControl: state.rawValue & GDK_CONTROL_MASK.rawValue != 0,
                hasAlt: state.rawValue & GDK_ALT_MASK.rawValue != 0)
            return MainActor.assumeIsolated { handler.action(key) } ? 1 : 0
        }
        g_signal_connect_data(
            controller.address, "key-pressed", unsafeBitCast(function, to: GCallback.self),
            ArgumentHandler(action).retained(), { data, _ in ArgumentHandler<Key, Bool>.release(data) },
            G_CONNECT_SWAPPED)
        gtk_widget_add_controller(self, controller)
    }

    /// Calls `action` for each step of the wheel while Control is pressed. Downwards is positive.
    @MainActor
    public func onControlScroll(_ action: @escaping @MainActor (Double) -> Void) {
        guard let controller = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL) else { return }
        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE)
        let function: @convention(c) (gpointer?, Double, Double, OpaquePointer?) -> gboolean = {
            data, _, down, sender in
            guard let handler = ArgumentHandler<Double, Void>.of(data), let sender else { return 0 }
            let state = gtk_event_controller_get_current_event_state(sender)
            guard state.rawValue & GDK_CONTROL_MASK.rawValue != 0 else { return 0 }
            MainActor.assumeIsolated { handler.action(down) }
            return 1
        }
        g_signal_connect_data(
            controller.address, "scroll", unsafeBitCast(function, to: GCallback.self),
            ArgumentHandler(action).retained(), { data, _ in ArgumentHandler<Double, Void>.release(data) },
            G_CONNECT_SWAPPED)
        gtk_widget_add_controller(self, controller)
    }

    /// Calls `action` before each frame, until it returns false. Frames are drawn until then.
    @MainActor
    public func onTick(_ action: @escaping @MainActor () -> Bool) {
        gtk_widget_add_tick_callback(
            self,
            { _, _, data in
                guard let handler = Handler<Bool>.of(data) else { return 0 }
                return MainActor.assumeIsolated { handler.action() } ? 1 : 0
            }, Handler(action).retained(), { Handler<Bool>.release($0) })
    }
}
