import CCurl
import Foundation

/// The kernel's list of sockets that a thread waits for, and an event that wakes the thread.
struct Epoll: Sendable {
    private let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    private let waker = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))

    static let input = EPOLLIN.rawValue
    static let output = EPOLLOUT.rawValue
    /// The peer has closed its side.
    static let hangUp = EPOLLRDHUP.rawValue

    init() {
        _ = control(EPOLL_CTL_ADD, socket: waker, events: Self.input)
    }

    func close() {
        _ = Glibc.close(waker)
        _ = Glibc.close(descriptor)
    }

    /// Makes the thread return from `wait`. Safe from any thread.
    func wakeUp() {
        _ = eventfd_write(waker, 1)
    }

    /// Changes the events that are reported for a socket from `old` to `new`; 0 means none.
    func watch(_ socket: Int32, from old: UInt32, to new: UInt32) {
        guard old != new else { return }
        let operation = old == 0 ? EPOLL_CTL_ADD : new == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
        guard !control(operation, socket: socket, events: new), new != 0 else { return }
        _ = control(operation == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket: socket, events: new)
    }

    /// Waits for this many milliseconds, or forever if negative. Returns the sockets that have events.
    func wait(_ milliseconds: Int32, into events: UnsafeMutableBufferPointer<epoll_event>) -> Range<Int> {
        let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), milliseconds)
        return 0..<max(0, Int(count))
    }

    /// Whether an event is that of `wakeUp`. If so, the event is cleared.
    func takeWakeUp(_ event: epoll_event) -> Bool {
        guard event.data.fd == waker else { return false }
        var count: eventfd_t = 0
        _ = eventfd_read(waker, &count)
        return true
    }

    private func control(_ operation: Int32, socket: Int32, events: UInt32) -> Bool {
        var event = epoll_event(events: events, data: epoll_data_t(fd: socket))
        return epoll_ctl(descriptor, operation, socket, &event) == 0
    }
}
