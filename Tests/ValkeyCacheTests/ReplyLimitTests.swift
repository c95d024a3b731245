#if Valkey
    import Foundation
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("Replies without an end", .bounded)
    struct ReplyLimitTests {
        private func connection(to server: FakeServer) throws -> Connection {
            try Connection(to: .socket(server.path), until: Deadline(after: 60))
        }

        @Test("a call reads once after its deadline, although more bytes have arrived")
        func deadline() async throws {
            let reply = "$100000\r\n" + String(repeating: "x", count: 100_000) + "\r\n"
            let server = try FakeServer { _ in .bytes(reply) }
            let connection = try connection(to: server)
            try connection.send([Command(["GET", "a"])], until: Deadline(after: 60))
            try await waitUntil("arrived") {
                var count: Int32 = 0
                return ioctl(connection.descriptor, UInt(FIONREAD), &count) == 0 && count >= reply.utf8.count
            }
            let late = Deadline(after: 0)
            #expect(throws: LinkFailure.timedOut) { try connection.call([Command(["GET", "a"])], until: late) }
        }

        /// Replies, and why they are refused.
        static let replies: [(String, String)] = [
            ("+" + String(repeating: "x", count: 20_000), "a line is too long"),
            ("-" + String(repeating: "x", count: 20_000), "a line is too long"),
            ("*9000\r\n", "it has too many elements"),
            (
                "*9\r\n" + String(repeating: "*8000\r\n" + String(repeating: ":1\r\n", count: 8000), count: 9),
                "it has too many elements"
            ),
        ]

        @Test("lines and arrays have limits", arguments: replies.indices)
        func limits(_ index: Int) throws {
            let (reply, why) = Self.replies[index]
            let server = try FakeServer { _ in .bytes(reply) }
            let connection = try connection(to: server)
            #expect(throws: LinkFailure.unreadable(["a"], why)) {
                try connection.call([Command(["GET", "a"], key: "a")], until: Deadline(after: 60))
            }
        }

        @Test("the elements of one reply do not count for the next")
        func manyReplies() throws {
            let server = try FakeServer { _ in
                .bytes("*8000\r\n" + String(repeating: ":1\r\n", count: 8000))
            }
            let connection = try connection(to: server)
            for _ in 0..<10 {
                let reply = try connection.call([Command(["GET", "a"])], until: Deadline(after: 60))
                #expect(reply.first?.array?.count == 8000)
            }
        }
    }
#endif
