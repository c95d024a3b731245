import CGtk

/// A closure that C holds, as the pointer that it hands back.
final class Handler<Result: Sendable>: Sendable {
    let action: @MainActor () -> Result

    init(_ action: @escaping @MainActor () -> Result) {
        self.action = action
    }

    /// For C to hold, until ``release(_:)``.
    func retained() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func of(_ data: UnsafeMutableRawPointer?) -> Handler? {
        data.map { Unmanaged<Handler>.fromOpaque($0).takeUnretainedValue() }
    }

    static func release(_ data: UnsafeMutableRawPointer?) {
        data.map { Unmanaged<Handler>.fromOpaque($0).release() }
    }
}

/// As ``Handler``, with what GTK says besides.
final class ArgumentHandler<Argument: Sendable, Result: Sendable>: Sendable {
    let action: @MainActor (Argument) -> Result

    init(_ action: @escaping @MainActor (Argument) -> Result) {
        self.action = action
    }

    func retained() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func of(_ data: UnsafeMutableRawPointer?) -> ArgumentHandler? {
        data.map { Unmanaged<ArgumentHandler>.fromOpaque($0).takeUnretainedValue() }
    }

    static func release(_ data: UnsafeMutableRawPointer?) {
        data.map { Unmanaged<ArgumentHandler>.fromOpaque($0).release() }
    }
}

/// An object of GTK's on its way from C to the main actor.
struct Crossing: @unchecked Sendable {  // GTK calls on the main thread, which is the main actor's
    let pointer: OpaquePointer?
}
