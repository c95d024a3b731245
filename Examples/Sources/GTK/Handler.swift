import CGtk

/// A closure that C code holds as a pointer and passes back.
final class Handler<Result: Sendable>: Sendable {
    let action: @MainActor () -> Result

    init(_ action: @escaping @MainActor () -> Result) {
        self.action = action
    }

    /// The pointer for C code, valid until ``release(_:)``.
    func retained() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func of(_ data: UnsafeMutableRawPointer?) -> Handler? {
        data.map { Unmanaged<Handler>.fromOpaque($0).takeUnretainedValue() }
    }

    static func release(_ data: UnsafeMutableRawPointer?) {
        data.map { Unmanaged<Handler>.fromOpaque($0).release() }
    }
}

/// Like ``Handler``, with an argument from GTK.
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

/// A GTK object that is passed from C to the main actor.
struct Crossing: @unchecked Sendable {  // GTK calls on the main thread, which is the main actor's
    let pointer: OpaquePointer?
}
