import Foundation

/// The watched descriptors and their events.
struct Poller {
    struct Event {
        let descriptor: Int32
        let readable: Bool
        let writable: Bool
        /// The peer has gone, or the socket failed.
        let broken: Bool
    }

    private var watched: [pollfd] = []
    private var places: [Int32: Int] = [:]

    mutating func watch(_ descriptor: Int32, reading: Bool, writing: Bool) {
        let events = Int16((reading ? POLLIN : 0) | (writing ? POLLOUT : 0))
        if let place = places[descriptor] {
            watched[place].events = events
        } else {
            places[descriptor] = watched.count
            watched.append(pollfd(fd: descriptor, events: events, revents: 0))
        }
    }

    mutating func forget(_ descriptor: Int32) {
        guard let place = places.removeValue(forKey: descriptor), let last = watched.popLast() else { return }
        guard last.fd != descriptor else { return }
        watched[place] = last
        places[last.fd] = place
    }

    /// Waits until something happens, or for that many milliseconds (-1: without limit).
    mutating func wait(milliseconds: Int32) -> [Event] {
        let count = poll(&watched, nfds_t(watched.count), milliseconds)
        guard count > 0 else { return [] }
        var events: [Event] = []
        events.reserveCapacity(Int(count))
        for entry in watched where entry.revents != 0 {
            let happened = Int32(entry.revents)
            events.append(
                Event(
                    descriptor: entry.fd,
                    readable: happened & Int32(POLLIN) != 0,
                    writable: happened & Int32(POLLOUT) != 0,
                    broken: happened & Int32(POLLERR | POLLHUP | POLLNVAL) != 0))
        }
        return events
    }
}
