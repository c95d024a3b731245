import Foundation

/// The sockets of a server, on the thread of its loop.
final class ServerEngine: @unchecked Sendable {  // only the loop's thread uses the variables
    let loop: EventLoop
    let journal: Observed<Journal>
    let respond: Script.Handler
    /// Whether a target is answered before the body of its request has arrived. Set before the loop starts.
    var answersEarly: @Sendable (String) -> Bool = { _ in false }
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    private(set) var latency: TimeInterval = 0
    private var throttle = Throttle()
    private let listener: Socket
    private var isAccepting = true
    private var isShutDown = false
    private var connections: [Int: Connection] = [:]
    private var opened = 0
    private var received = 0

    init(listener: Socket, journal: Observed<Journal>, respond: @escaping Script.Handler) throws {
        self.listener = listener
        self.journal = journal
        self.respond = respond
        loop = try EventLoop()
        loop.handle(listener.descriptor) { [unowned self] _ in acceptAll() }
        loop.watch(listener.descriptor, reading: true, writing: false)
    }

    deinit {
        scratch.deallocate()
    }

    func set(latency: TimeInterval) {
        loop.assertIsCurrent()
        self.latency = latency
    }

    // MARK: Connections

    private func acceptAll() {
        do {
            while let socket = try listener.accept() { open(socket) }
        } catch {
            setAccepting(false)  // until a connection is closed: mostly, there is no free descriptor
        }
    }

    private func setAccepting(_ accepting: Bool) {
        isAccepting = accepting
        loop.watch(listener.descriptor, reading: accepting, writing: false)
    }

    private func open(_ socket: Socket) {
        let connection = Connection(id: opened, socket: socket, server: self)
        opened += 1
        connections[connection.id] = connection
        journal.update { $0.counts.connectionsOpened += 1 }
        loop.handle(socket.descriptor) { [unowned connection] event in connection.handle(event) }
        loop.watch(socket.descriptor, reading: true, writing: false)
    }

    enum Ending {
        case server
        case peer
        case peerReset
    }

    /// Closes a connection, with RST if `resetting` is true.
    func close(_ connection: Connection, by ending: Ending, resetting: Bool = false, abandoned: Bool = false) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        connection.wasClosed()
        loop.forget(connection.socket.descriptor)
        if resetting { connection.socket.reset() } else { connection.socket.close() }
        journal.update { journal in
            journal.counts.connectionsClosed += 1
            if ending == .peer { journal.counts.connectionsClosedByPeer += 1 }
            if ending == .peerReset { journal.counts.connectionsResetByPeer += 1 }
            if abandoned { journal.counts.repliesAbandoned += 1 }
        }
        if !isAccepting { setAccepting(true) }
    }

    /// Resumes a waiting reply, if it still waits.
    func resume(_ ticket: Connection.Ticket) {
        loop.assertIsCurrent()
        connections[ticket.connection]?.resume(ticket)
    }

    func record(_ request: RequestParser.Request, on connection: Int) -> RecordedRequest {
        let recorded = RecordedRequest(
            number: received, connection: connection, method: request.method, target: request.target,
            version: request.version, fields: request.fields, body: request.body)
        received += 1
        journal.update { $0.record(recorded) }
        return recorded
    }

    /// Closes everything, and ends the loop. If two threads stop the server at once, the loop calls this twice.
    func shutDown() {
        loop.assertIsCurrent()
        guard !isShutDown else { return }
        isShutDown = true
        connections.values.forEach { close($0, by: .server, resetting: true) }
        loop.forget(listener.descriptor)
        listener.close()
        loop.end()
    }

    // MARK: Bandwidth

    func set(bytesPerSecond: Int?) {
        loop.assertIsCurrent()
        for ticket in throttle.set(bytesPerSecond: bytesPerSecond, now: loop.now) { resume(ticket) }
    }

    /// How many bytes the connection may send now.
    func allowance(for wanted: Int, connection: Int) -> Int {
        throttle.allowance(for: wanted, connection: connection, now: loop.now)
    }

    func spend(_ bytes: Int) {
        throttle.spend(bytes)
    }

    /// Resumes the connection when it gets a slot to send in.
    func queueForSlot(_ ticket: Connection.Ticket) {
        throttle.queue(ticket)
        scheduleSlot()
    }

    private func scheduleSlot() {
        guard let due = throttle.nextSlot() else { return }
        loop.schedule(at: due) { [self] in
            throttle.slotBegins()
            while let ticket = throttle.next(now: loop.now) { resume(ticket) }
            scheduleSlot()
        }
    }
}
