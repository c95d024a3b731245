/// A `CURLM` as the engine drives it. Everything here is for the engine's thread only.
protocol EventHandler: AnyObject {
    /// When libcurl's timer fires, by `monotonicNow`; `.max` if it is not set.
    var timer: UInt64 { get }
    /// When `deadlinePassed` is due, by the engine's clock; `.max` if there is nothing to wait for.
    var deadline: UInt64 { get }
    /// Whether the engine watches `timer` and `deadline`. Only the engine sets it.
    var isTimed: Bool { get set }
    /// Whether the engine will call `settle` in this iteration. Only the engine sets it.
    var isTouched: Bool { get set }

    func timerFired()
    func deadlinePassed()
    /// Handles `epoll`'s events of a socket.
    func handle(_ events: UInt32, on socket: Int32)
    /// Called at the end of each iteration in which the handler was touched.
    func settle()
}
