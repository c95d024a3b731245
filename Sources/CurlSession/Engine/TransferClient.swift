import Foundation

/// A task as the engine sees it: the transfers of its requests report to it.
///
/// The engine calls everything here on its own thread, except `drain`.
protocol TransferClient: AnyObject, Sendable {
    /// Older tasks have smaller identifiers.
    var identifier: Int { get }
    /// Orders the tasks that wait for a slot of the same host.
    var priority: Float { get }
    /// Whether the end of the task has been reported to it. Nothing may follow.
    var isOver: Bool { get }
    /// The transfer of the last request; nil before it begins, and once it has ended or been dropped.
    var transfer: Transfer? { get set }

    // MARK: How many bytes it takes

    /// While it is suspended, it takes no bytes and sends none.
    var isSuspendedOnEngine: Bool { get }
    /// The number of bytes that the delegate has not received.
    var undelivered: Int { get }
    /// Whether it has room for more bytes. If not, it makes the transfer go on as soon as it has.
    func checkRoom() -> Bool

    // MARK: What a transfer reports

    /// Decides what happens to a response whose head has arrived.
    func received(_ head: CurlResponseHead, of exchange: Exchange) -> HeadAction
    func deliver(_ head: CurlResponseHead)
    func deliver(_ data: Data)
    /// libcurl has taken bytes of the request's body.
    func sent(_ count: Int, total: Int64, of expected: Int64)
    func set(_ metrics: CurlTaskMetrics)
    /// A proxy has refused a tunnel because it needs a credential. The transfer has ended.
    func received(_ refusal: TunnelRefusal, of exchange: Exchange)
    /// Ends the task. `error` is nil if the response is complete.
    func end(_ error: URLError?)

    // MARK: Time

    /// The time by which the task must have ended.
    var resourceDeadline: UInt64 { get }
    /// Whether that time still matters.
    var canTimeOut: Bool { get }
    func timeOut()

    // MARK: The delegate's queue

    /// Reports to the delegate what the transfers have reported.
    func drain()
}

/// What happens to a response whose head has arrived.
enum HeadAction {
    /// The response is final, and its body is delivered.
    case deliver
    /// The transfer waits for a decision.
    case wait
    case fail(URLError)
}

/// A proxy's refusal to open a tunnel, because it needs a credential.
struct TunnelRefusal: Sendable {
    /// The schemes that the proxy offers: libcurl's `CURLAUTH_…`.
    var schemes: Int
    /// The response for the task; nil if the proxy's head was incomplete.
    var head: CurlResponseHead?
    /// The error if there is no response.
    var error: URLError

    /// The strongest challenge that libcurl can answer. Only a proxy that has offered Basic may get the password as it is.
    var challenges: [Challenge]? {
        [
            (AuthenticationScheme.curlDigest, "Digest realm=\"\", nonce=\"\""),
            (AuthenticationScheme.curlBasic, "Basic realm=\"\""),
        ].first { schemes & $0.0 != 0 }.map { Challenge.parse([$0.1]) }
    }
}
