import Foundation

/// The hooks of the configuration, which change requests.
struct RequestHooks: Sendable {
    typealias Prepare = @Sendable (URLRequest) async throws -> URLRequest
    typealias Authenticate = @Sendable (URLRequest, HTTPURLResponse) async throws -> URLRequest?

    let prepare: Prepare?
    let authenticate: Authenticate?

    /// Nil without a hook.
    init?(prepare: Prepare?, authenticate: Authenticate?) {
        guard prepare != nil || authenticate != nil else { return nil }
        self.prepare = prepare
        self.authenticate = authenticate
    }
}

/// One call of a hook. Its task, and the tasks that the hook starts, know it. The loads that a hook starts with its own
/// synchronizer run no hooks: the hook could wait for itself.
final class HookCall: Sendable {
    /// The call in which the current task was started. It may be over: a task can outlive the hook that started it.
    @TaskLocal static var current: HookCall?

    /// Identifies the loader whose hook it is. The loader lives at least as long as the call.
    private let loader: ObjectIdentifier
    /// The call that has started the load for which this call is made.
    private let outer: HookCall?
    private let isOver = Locked(false)

    init(of loader: AnyObject, within outer: HookCall?) {
        self.loader = ObjectIdentifier(loader)
        self.outer = outer?.innermostRunning
    }

    private var isRunning: Bool { !isOver.withLock { $0 } }

    private var innermostRunning: HookCall? { isRunning ? self : outer?.innermostRunning }

    /// Whether a hook of this loader may wait for what is done in this call.
    func isHook(of loader: AnyObject) -> Bool {
        (self.loader == ObjectIdentifier(loader) && isRunning) || outer?.isHook(of: loader) == true
    }

    /// Calls the hook, which finds this call in ``current``.
    func run<Value>(_ hook: () async throws -> Value) async throws -> Value {
        defer { isOver.withLock { $0 = true } }
        return try await Self.$current.withValue(self) { try await hook() }
    }
}
