import Foundation
import ScriptedServer
import SynchronizerSupport
import TestSupport

/// A server of HTTP/2 behind TLS that sends the frames that a test tells it to send (RFC 9113). It reads no fields.
final class HTTP2Server: Sendable {
    /// A frame to be sent.
    struct Frame: Sendable {
        var type: UInt8
        var flags: UInt8 = 0
        var stream: UInt32
        var payload: [UInt8] = []

        /// The head of a response of status 200, and of its body's end if there is no body.
        static func head(_ stream: UInt32, ends: Bool = false, block: [UInt8] = [0x88]) -> Frame {
            Frame(type: 1, flags: ends ? 5 : 4, stream: stream, payload: block)
        }

        static func data(_ stream: UInt32, _ text: String, ends: Bool = true) -> Frame {
            data(stream, Array(text.utf8), ends: ends)
        }

        static func data(_ stream: UInt32, _ bytes: [UInt8], ends: Bool) -> Frame {
            Frame(type: 0, flags: ends ? 1 : 0, stream: stream, payload: bytes)
        }

        static func reset(_ stream: UInt32, _ code: UInt8) -> Frame {
            Frame(type: 3, stream: stream, payload: [0, 0, 0, code])
        }

        static func goAway(last stream: UInt32, _ code: UInt8 = 0) -> Frame {
            Frame(
                type: 7, stream: 0,
                payload: [
                    UInt8(stream >> 24), UInt8(stream >> 16 & 255), UInt8(stream >> 8 & 255), UInt8(stream & 255), 0, 0,
                    0, code,
                ])
        }

        /// A response with a body.
        static func response(_ stream: UInt32, _ text: String) -> [Frame] { [.head(stream), .data(stream, text)] }

        fileprivate var bytes: [UInt8] {
            let size = payload.count
            let number = (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) }
            return [UInt8(size >> 16), UInt8(size >> 8 & 255), UInt8(size & 255), type, flags] + number + payload
        }
    }

    /// A request: which connection it came on, counted from 1, and its stream.
    struct Request: Sendable, Hashable {
        var connection: Int
        var stream: UInt32
    }

    /// Returns the frames to send when a request and its body have arrived. `requests` are all requests of its connection so far,
    /// this one last. Nil closes the connection.
    typealias Script = @Sendable (_ request: Request, _ requests: [Request]) -> [Frame]?

    /// Returns the frames to send when a frame of a request has arrived that does not end the request. `frames` is the number of
    /// frames of its stream so far, counted from 1.
    typealias EarlyScript = @Sendable (_ stream: UInt32, _ frames: Int) -> [Frame]

    let relay: TLSRelay
    private let listener: Int32
    private let observed = Observed<[Request]>([])
    private let connections = Locked<Set<Int32>>([])
    private let received = Locked(0)

    /// - Parameters:
    ///   - resets: Whether a connection that the script closes is reset.
    ///   - settings: The payload of the server's SETTINGS.
    ///   - afterPing: Returns the frames to send after the answer to a PING. They are counted from 1.
    init(
        resets: Bool = false, settings: [UInt8] = [], early: @escaping EarlyScript = { _, _ in [] },
        afterPing: @escaping @Sendable (_ pings: Int) -> [Frame] = { _ in [] },
        _ script: @escaping Script
    ) throws {
        listener = try Descriptor.listening()
        relay = try TLSRelay(to: Descriptor.port(of: listener)) { $0.speaksHTTP2 = true }
        let (listener, observed, connections, received) = (listener, observed, connections, received)
        Thread.detachNewThread {
            var number = 0
            while let connection = Descriptor.accepted(listener) {
                number += 1
                connections.withLock { _ = $0.insert(connection) }
                let number = number
                Thread.detachNewThread {
                    if resets { Descriptor.resetWhenClosed(connection) }
                    Self.serve(
                        connection, number: number, settings: settings, observed: observed, pings: received,
                        afterPing: afterPing,
                        early: early, script: script
                    )
                    connections.withLock {
                        $0.remove(connection)
                        _ = close(connection)
                    }
                }
            }
            close(listener)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    var requests: [Request] { observed.read { $0 } }
    /// The number of PINGs that have arrived.
    var pings: Int { received.withLock { $0 } }

    /// Ends all connections.
    func endConnections() {
        connections.withLock { for connection in $0 { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    private static func serve(
        _ connection: Int32, number: Int, settings: [UInt8], observed: Observed<[Request]>, pings: Locked<Int>,
        afterPing: (Int) -> [Frame],
        early: EarlyScript, script: Script
    ) {
        var frames: [UInt32: Int] = [:]
        guard read(connection, 24) != nil, write(connection, [Frame(type: 4, stream: 0, payload: settings)]) else {
            return
        }
        while let head = read(connection, 9),
            let size = Optional(Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])),
            let payload = read(connection, size)
        {
            let stream = head[5..<9].reduce(0) { $0 << 8 | UInt32($1) }
            switch head[3] {
            case 0 where head[4] & 1 == 1, 1 where head[4] & 1 == 1:  // END_STREAM
                let request = Request(connection: number, stream: stream)
                let own = observed.update { requests in
                    requests.append(request)
                    return requests.filter { $0.connection == number }
                }
                guard let frames = script(request, own), write(connection, frames) else { return }
            case 0, 1:
                frames[stream, default: 0] += 1
                guard write(connection, early(stream, frames[stream] ?? 0)) else { return }
            case 6 where head[4] & 1 == 0:
                let count = pings.withLock {
                    $0 += 1
                    return $0
                }
                let answer = Frame(type: 6, flags: 1, stream: 0, payload: payload)
                guard write(connection, [answer] + afterPing(count)) else { return }
            case 4 where head[4] & 1 == 0:
                guard write(connection, [Frame(type: 4, flags: 1, stream: 0)]) else { return }
            default: break
            }
        }
    }

    private static func read(_ connection: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let isWhole = count == 0 || recv(connection, &bytes, count, Int32(MSG_WAITALL)) == count
        return isWhole ? bytes : nil
    }

    private static func write(_ connection: Int32, _ frames: [Frame]) -> Bool {
        Descriptor.writeAll(connection, frames.flatMap(\.bytes)[...])
    }
}
