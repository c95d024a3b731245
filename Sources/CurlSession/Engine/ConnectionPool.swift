import CCurl
import Foundation
import SynchronizerSupport

/// The connections of a session: a `CURLM`, and the queues for its hosts.
///
/// Each transfer has an easy handle of its own. Creating one takes less than a microsecond. Before 8.4, libcurl keeps a pointer to
/// the last field line of the previous transfer, and follows it if the first line of the next head begins with a space. With reused
/// handles, a server could crash the process.
///
/// Use everything here on the engine's thread only, except constants, `isAlive`, `perform` and `performNow`.
final class ConnectionPool: EventHandler, @unchecked Sendable {  // variables: on the engine's thread only
    /// The maximum number of idle connections that are kept open.
    static let maximumConnections = 64
    /// Seconds after which an idle connection is not used again. Most servers close idle connections after 60 seconds or more.
    static let maximumAge = 50

    let engine: Engine
    let options: TransferOptions
    let executor: DelegateExecutor
    /// The `Proxy-Authorization` with Basic that each proxy has got last, by the proxy's URL. Safe from any thread.
    let proxyAnswers = Locked<[String: String]>([:])
    private(set) var multi: UnsafeMutableRawPointer?
    private(set) var active: [UnsafeMutableRawPointer: Transfer] = [:]
    var slots: HostSlots<Waiting>
    /// Tasks that wait for a slot.
    var queued: [ObjectIdentifier: Waiting] = [:]
    /// Tasks that wait for a decision of their delegate, and have nothing on libcurl.
    var deciding: [ObjectIdentifier: any TransferClient] = [:]
    var ownSockets: Set<Int32> = []
    var tunnels = OpenTunnels()
    private var multiplexed: [String] = []
    /// How many of the transfers that wait in libcurl for a connection to each peer `settle` starts again.
    var restarts: [String: Int] = [:]
    /// Tasks with events for their delegates.
    private var outbox: [any TransferClient] = []
    /// Transfers that have gathered bytes in this iteration.
    private var gathering: [Transfer] = []
    /// Transfers that have taken so many bytes ahead that the others on their connections have to wait.
    var blocking: [ObjectIdentifier: Transfer] = [:]
    /// The requests whose tasks have failed because their ends were uncertain.
    var uncertain: Set<String> = []

    /// When libcurl's timer fires; `.max` if it is not set.
    private(set) var timer = UInt64.max
    /// The earliest time at which a transfer or a queued task may time out. Without any, the time to close the idle connections.
    private(set) var deadline = UInt64.max
    /// The number of times that libcurl was called to transfer something.
    private(set) var calls = 0
    var isTimed = false
    var isTouched = false

    init(engine: Engine, options: TransferOptions, executor: DelegateExecutor) {
        self.engine = engine
        self.options = options
        self.executor = executor
        slots = HostSlots(limit: options.connectionsPerHost)
    }

    /// Whether this process has the engine's thread: a child of `fork` does not.
    var isAlive: Bool { engine.process == getpid() }

    /// Runs a command on the engine's thread. Safe from any thread.
    func perform(_ command: @escaping @Sendable () -> Void) {
        engine.perform(command)
    }

    /// Like `perform`, but runs on the caller's thread if the engine's thread sleeps. Safe from any thread.
    func performNow(_ command: @escaping @Sendable () -> Void) {
        engine.performNow(command)
    }

    // MARK: Transfers

    /// Sends the request of a task that has a slot.
    func begin(_ task: any TransferClient, with exchange: Exchange) {
        queued[ObjectIdentifier(task)] = nil
        engine.touch(self)
        guard openMulti() != nil, let easy = Transfer.makeHandle(for: self) else {
            slots.release(exchange.peer, isAlone: exchange.isAlone)
            return task.end(URLError(.unknown))
        }
        let transfer = Transfer(task: task, exchange: exchange, pool: self, easy: easy)
        active[easy] = transfer
        task.transfer = transfer
        transfer.configure()
        send(transfer)
        transferWaits(until: transfer.deadline)
    }

    func send(_ transfer: Transfer) {
        transfer.chooseConnection()
        guard let multi, let easy = transfer.easy, !holdBack(transfer) else { return }
        transfer.connectionsMade = 0
        guard curl_multi_add_handle(multi, easy) == CURLM_OK else { return finish(transfer, error: URLError(.unknown)) }
        unpauseOthers(for: transfer)
    }

    /// Looks up a name whose addresses libcurl needs, and then starts the transfer again.
    private func lookUp(_ name: HostName, for transfer: Transfer) {
        curl_multi_remove_handle(multi, transfer.easy)
        let (task, id) = (transfer.task, ObjectIdentifier(transfer))
        let ticket = engine.resolver.resolve(name.name) { [self] addresses in
            perform { [self] in
                // The transfer may have ended in the meantime, and the task may have another one.
                guard let transfer = task.transfer, ObjectIdentifier(transfer) == id, let easy = transfer.easy else {
                    return
                }
                engine.touch(self)
                if transfer.lookup.end(addresses, for: easy, at: monotonicNow()) {
                    send(transfer)
                } else {
                    let code: URLError.Code = transfer.exchange.proxy == nil ? .cannotFindHost : .cannotConnectToHost
                    finish(transfer, error: URLError(code, because: "the host \(name.name) could not be resolved"))
                }
            }
        }
        transfer.lookup.begin(ticket, at: monotonicNow())
    }

    /// Removes a transfer from libcurl, whether it has ended or not.
    private func remove(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        curl_multi_remove_handle(multi, easy)
        active[easy] = nil
        transfer.detach()
        curl_easy_cleanup(easy)
        becomeIdle(transfer.socket)
        stopBlocking(transfer)
        leaveConnection(transfer)
        slots.release(transfer.exchange.peer, isAlone: transfer.exchange.isAlone)
        startWaiting(transfer.exchange.peer)
        if active.isEmpty { scheduleClosing() }
    }

    /// Ends a transfer. `error` is nil if the response is complete.
    func finish(_ transfer: Transfer, error: URLError?) {
        engine.assertIsCurrent()
        transfer.collectMetrics(isFinal: true)
        let error = error ?? transfer.truncation
        let tunnelSchemes = transfer.tunnelSchemes
        remove(transfer)
        transfer.ended(error, tunnelSchemes: tunnelSchemes)
    }

    /// Drops a transfer that has not ended; its connection is closed unless it is multiplexed.
    func abort(_ transfer: Transfer) {
        engine.touch(self)
        remove(transfer)
    }

    /// Notes that a peer has answered with HTTP/2 or later. This runs in a callback, which must not call libcurl, so `settle`
    /// starts the waiting tasks.
    func peerMultiplexes(_ transfer: Transfer) {
        noteMultiplexed(transfer.socket)
        if slots.setMultiplexed(transfer.exchange.peer) { multiplexed.append(transfer.exchange.peer) }
    }

    /// Ends transfers that are done, starts those that can start, and notifies the delegates.
    func settle() {
        engine.assertIsCurrent()
        var code = CURLE_OK
        while let multi, let easy = synchronizer_multi_ended(multi, &code) {
            guard let transfer = active[easy] else { continue }
            if let name = transfer.lookup.awaited {
                lookUp(name, for: transfer)
            } else if transfer.prepareToSendAgain(after: code) {
                curl_multi_remove_handle(multi, easy)
                send(transfer)
            } else {
                finish(transfer, error: transfer.meaning(of: code))
            }
        }
        while let peer = multiplexed.popLast() { startWaiting(peer) }
        while let (peer, count) = restarts.popFirst() { restart(count, at: peer) }
        pauseBlocked()
        for transfer in gathering where transfer.isToFlush { transfer.flush() }
        gathering = []
        guard !outbox.isEmpty else { return }
        executor.drain(outbox)
        outbox = []
    }

    /// Flushes a transfer at the end of this iteration, so that all bytes of the iteration become one piece.
    func flushLater(_ transfer: Transfer) {
        gathering.append(transfer)
        engine.touch(self)
    }

    /// Notifies the task's delegate at the end of this iteration.
    func deliver(_ task: any TransferClient) {
        outbox.append(task)
        engine.touch(self)
    }

    // MARK: libcurl's events

    func handle(_ events: UInt32, on socket: Int32) {
        engine.assertIsCurrent()
        let entry = engine.sockets[socket]
        guard entry.wanted != 0 else {
            guard entry.isQuiet, !isHeld(socket) else { return watch(socket, wanted: 0, lazily: false) }
            // The event may be stale: another thread may have run an iteration since then, and read these bytes.
            return isReadable(socket) ? shutDown(socket) : ()
        }
        var mask: Int32 = 0
        if events & (Epoll.input | Epoll.hangUp) != 0 { mask |= CURL_CSELECT_IN }
        if events & Epoll.output != 0 { mask |= CURL_CSELECT_OUT }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_ERR }
        act(on: socket, mask: mask)
    }

    func timerFired() {
        engine.assertIsCurrent()
        timer = .max
        engine.timesChanged(self)
        act(on: -1, mask: 0)
    }

    private func act(on socket: Int32, mask: Int32) {
        guard let multi else { return }
        engine.touch(self)
        if mask & CURL_CSELECT_IN != 0 { noteInput(on: socket) }
        calls += 1
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, mask, &running)
    }

    // MARK: Connections

    private func openMulti() -> UnsafeMutableRawPointer? {
        if let multi { return multi }
        guard let multi = curl_multi_init() else { return nil }
        self.multi = multi
        synchronizer_multi_callbacks(multi, socketCallback, timerCallback, Unmanaged.passUnretained(self).toOpaque())
        _ = synchronizer_multi_long(multi, CURLMOPT_MAXCONNECTS, Self.maximumConnections)
        _ = synchronizer_multi_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, options.connectionsPerHost)
        return multi
    }

    /// Drops all transfers, and closes all connections.
    func close() {
        engine.assertIsCurrent()
        for transfer in active.values { remove(transfer) }
        if let multi { curl_multi_cleanup(multi) }
        for socket in ownSockets { forget(socket) }
        (multi, tunnels) = (nil, OpenTunnels())
        (timer, deadline) = (.max, .max)
        engine.timesChanged(self)
    }

    // MARK: Time

    /// Call it when the deadline of a transfer has become earlier.
    func reconsiderDeadline(of transfer: Transfer) {
        transferWaits(until: transfer.deadline)
    }

    func transferWaits(until moment: UInt64) {
        guard moment < deadline else { return }
        deadline = moment
        engine.timesChanged(self)
    }

    private func scheduleClosing() {
        deadline = deciding.values.reduce(engine.now + UInt64(Self.maximumAge) * 1_000_000_000) {
            min($0, $1.resourceDeadline)
        }
        engine.timesChanged(self)
    }

    /// Ends the transfers that have timed out. Without any transfer, closes the idle connections.
    func deadlinePassed() {
        engine.assertIsCurrent()
        deadline = .max
        if active.isEmpty, queued.isEmpty, deciding.isEmpty { return close() }
        for transfer in Array(active.values) {
            if transfer.deadline <= engine.now, waitsForStream(transfer) { transfer.noteProgress() }
            if transfer.deadline <= engine.now {
                expire(transfer)
            } else {
                deadline = min(deadline, transfer.deadline)
            }
        }
        deadline = min(deadline, expireWaiting(), sendPings())
        engine.timesChanged(self)
    }

    /// Sets libcurl's timer, in milliseconds from now. A negative value cancels it.
    func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? .max : monotonicNow() + UInt64(milliseconds) * 1_000_000
        engine.timesChanged(self)
    }

    /// The pool that libcurl passes to a callback as its context.
    static func of(_ context: UnsafeMutableRawPointer?) -> ConnectionPool? {
        context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }
}
