/// The replies of a server, by request.
struct Script: Sendable {
    typealias Handler = @Sendable (RecordedRequest) -> Reply

    var queues: [String: [Reply]] = [:]
    var replies: [String: Reply] = [:]
    var handlers: [String: Handler] = [:]
    var fallback: Handler
    /// Targets that are answered as soon as the head of a request has arrived.
    var early: Set<String> = []

    /// Queued replies come first, and are used once. Then come set replies, then closures. In each group, the whole target
    /// takes precedence over the path.
    mutating func handler(for request: RecordedRequest) -> Handler {
        let names = [request.target, request.path]
        for name in names {
            if let reply = queues[name]?.first {
                queues[name]?.removeFirst()
                return { _ in reply }
            }
        }
        if let reply = names.lazy.compactMap({ [replies] in replies[$0] }).first { return { _ in reply } }
        return names.lazy.compactMap { [handlers] in handlers[$0] }.first ?? fallback
    }
}
