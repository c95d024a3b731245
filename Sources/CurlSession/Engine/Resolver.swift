import CCurl
import Foundation
import SynchronizerSupport

/// Looks host names up, on a bounded number of threads.
///
/// A call of `getaddrinfo` cannot be interrupted. If all transfers that wait for a lookup are cancelled, the lookup keeps its
/// thread until the call returns; if it has not begun, it is dropped. Lookups of the same name are coalesced.
final class Resolver: Sendable {
    /// Returns the addresses of a name in numeric form, best first; none if there is no such name. It may block.
    typealias Lookup = @Sendable (_ name: String) -> [String]

    /// Identifies a request for a lookup.
    struct Ticket: Hashable, Sendable {
        fileprivate let name: String
        fileprivate let number: Int
    }

    private struct State {
        var threads = 0
        /// Names whose lookup has not begun, oldest first.
        var queue: [String] = []
        /// The receivers that wait for a name that is queued or in flight.
        var receivers: [String: [Int: @Sendable ([String]) -> Void]] = [:]
        var lastNumber = 0
    }

    private let limit: Int
    private let lookup: Lookup
    private let state = Locked(State())

    /// - Parameter limit: The maximum number of threads.
    init(limit: Int = 16, lookup: @escaping Lookup = Resolver.systemLookup) {
        self.limit = limit
        self.lookup = lookup
    }

    /// Looks a name up. `receive` is called once, on a thread of the resolver, unless the ticket is cancelled before.
    func resolve(_ name: String, receive: @escaping @Sendable ([String]) -> Void) -> Ticket {
        let (ticket, isToStart) = state.withLock { state in
            state.lastNumber += 1
            if state.receivers[name] == nil { state.queue.append(name) }
            state.receivers[name, default: [:]][state.lastNumber] = receive
            let isToStart = !state.queue.isEmpty && state.threads < limit
            if isToStart { state.threads += 1 }
            return (Ticket(name: name, number: state.lastNumber), isToStart)
        }
        if isToStart { startThread() }
        return ticket
    }

    func cancel(_ ticket: Ticket) {
        state.withLock { state in
            state.receivers[ticket.name]?[ticket.number] = nil
            guard state.receivers[ticket.name]?.isEmpty == true,
                let index = state.queue.firstIndex(of: ticket.name)
            else { return }
            state.queue.remove(at: index)
            state.receivers[ticket.name] = nil
        }
    }

    private func startThread() {
        let thread = Thread { [self] in
            while let name = next() { finish(name, with: lookup(name)) }
        }
        thread.name = "CurlSession.names"
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// The next name in the queue. Nil if the queue is empty; then the thread ends.
    private func next() -> String? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.threads -= 1
                return nil
            }
            return state.queue.removeFirst()
        }
    }

    private func finish(_ name: String, with addresses: [String]) {
        let receivers = state.withLock { $0.receivers.removeValue(forKey: name) } ?? [:]
        for receive in receivers.values { receive(addresses) }
    }
}

extension Resolver {
    /// Asks the system's resolver. Addresses with a scope are left out, because libcurl can't take them.
    static let systemLookup: Lookup = { name in
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { entry in
            guard let entry = entry?.pointee else { return nil }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let size = socklen_t(text.count)
            guard getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, size, nil, 0, NI_NUMERICHOST) == 0 else {
                return nil
            }
            let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return address.utf8.contains(UInt8(ascii: "%")) ? nil : address
        }
    }
}
