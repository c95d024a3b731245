#if Valkey && canImport(CHiredis)
    internal import CHiredis
    import Foundation
    import SynchronizerSupport

    /// A connection to a server: hiredis connects and parses, and no call waits longer than its deadline.
    ///
    /// The connection sends without hiredis, because hiredis 0.14 does not prevent SIGPIPE: the system would end the program if the
    /// server has closed the connection.
    final class Connection: @unchecked Sendable {  // the pool gives it to one thread at a time
        /// Where to connect. It has an address and not a name, because hiredis would wait for the name service.
        enum Endpoint: Hashable, Sendable {
            case address(String, port: Int)
            case socket(String)

            /// For logs.
            var name: String {
                switch self {
                case .address(let address, let port): ServerAddress.Place.host(address, port: port).name
                case .socket(let path): ServerAddress.Place.socket(path).name
                }
            }
        }

        let endpoint: Endpoint
        /// When the last call has given the connection back, by `SharedServer.now`.
        var lastUse = 0.0
        private let context: UnsafeMutablePointer<redisContext>
        private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        /// The digests by which this server identifies the scripts.
        private var digests: [String] = []

        /// The most bytes to read for one reply.
        private static let maximumBytes = 32 << 20
        /// The most bytes of a line: a status, an error, or the length of a string or array.
        private static let longestLine = 8 << 10
        /// The bytes of hiredis's buffer that are kept for the next reply.
        private static let keptBuffer = 256 << 10
        /// The number of elements in all arrays of the reply that is being read.
        private let elements = UnsafeMutablePointer<Int>.allocate(capacity: 1)

        init(to endpoint: Endpoint, until deadline: Deadline) throws(LinkFailure) {
            self.endpoint = endpoint
            let context =
                switch endpoint {
                case .address(let address, let port): redisConnectNonBlock(address, Int32(port))
                case .socket(let path): redisConnectUnixNonBlock(path)
                }
            guard let context else { throw .refused("out of memory") }
            self.context = context
            guard context.pointee.err == 0 else { throw .refused(Self.text(of: context.pointee.errstr)) }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            elements.initialize(to: 0)
            context.pointee.reader.pointee.fn = ReplyLimits.functions
            context.pointee.reader.pointee.privdata = UnsafeMutableRawPointer(elements)
            // Otherwise hiredis frees its buffer after each reply over 16 KB.
            context.pointee.reader.pointee.maxbuf = Self.keptBuffer
            try wait(for: POLLOUT, until: deadline)
            var (failure, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size)
            guard failure == 0 else { throw .refused(String(cString: strerror(failure))) }
        }

        deinit {
            redisFree(context)
            elements.deallocate()
            buffer.deallocate()
        }

        var descriptor: Int32 { context.pointee.fd }

        /// Authenticates the client, selects the database and loads the scripts, in one round trip.
        func prepare(for address: ServerAddress, until deadline: Deadline) throws(LinkFailure) {
            var commands: [Command] = []
            if let password = address.password {
                commands.append(Command(["AUTH"] + (address.user.map { [$0] } ?? []) + [password]))
            }
            if address.database != 0 { commands.append(Command(["SELECT", "\(address.database)"])) }
            let first = commands.count
            commands += Script.allCases.map { Command(["SCRIPT", "LOAD", $0.source]) }
            let replies = try call(commands, until: deadline)
            if address.password != nil, case .error(let error) = replies[0] {
                // Only the first word, because servers and proxies quote the arguments of commands that they do not know.
                throw .server("\(Self.text(of: error).prefix { $0 != " " }) to AUTH")
            }
            for case .error(let error) in replies { throw .server(Self.text(of: error)) }
            digests = replies[first...].compactMap(\.text)
            guard digests.count == Script.allCases.count else { throw .malformed("SCRIPT LOAD has no digest") }
        }

        /// Sends all commands together, and waits for all replies. After the deadline it reads once more: bytes that arrived in
        /// time count, even if the system runs this thread only later.
        func call(_ commands: [Command], until deadline: Deadline) throws(LinkFailure) -> [Reply] {
            try send(commands, until: deadline)
            var (replies, received, isLate): ([Reply], _, _) = ([], 0, false)
            do throws(LinkFailure) {
                while replies.count < commands.count {
                    if let reply = try next() {
                        replies.append(reply)
                        received = 0
                        continue
                    }
                    guard !isLate else { throw .timedOut }
                    isLate = deadline.millisecondsLeft == 0
                    try wait(for: POLLIN, until: deadline)
                    received += try read()
                    guard received <= Self.maximumBytes else { throw .malformed("it is too long") }
                }
            } catch {
                guard case .malformed(let why) = error else { throw error }
                throw .unreadable(commands[replies.count].keys, why)
            }
            return replies
        }

        func send(_ commands: [Command], until deadline: Deadline) throws(LinkFailure) {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(512)
            for command in commands {
                command.encode(into: &bytes) { $0.rawValue < digests.count ? digests[$0.rawValue] : "" }
            }
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { bytes in
                    Glibc.send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                if count >= 0 {
                    sent += count
                } else if errno == EAGAIN {
                    try wait(for: POLLOUT, until: deadline)
                } else if errno != EINTR {
                    throw .closed
                }
            }
        }

        /// The next reply that has arrived completely; nil if there is none.
        func next() throws(LinkFailure) -> Reply? {
            var raw: UnsafeMutableRawPointer?
            guard redisReaderGetReply(context.pointee.reader, &raw) == REDIS_OK else {
                let isTooLong = elements.pointee == ReplyLimits.tooMany
                throw .malformed(
                    isTooLong ? "it has too many elements" : Self.text(of: context.pointee.reader.pointee.errstr))
            }
            guard let raw else {
                // After each read, hiredis looks for the end of the line from its start.
                guard unparsed.count <= Self.longestLine || unparsed.prefix(Self.longestLine).contains(10) else {
                    throw .malformed("a line is too long")
                }
                return nil
            }
            defer { freeReplyObject(raw) }
            return Self.reply(&raw.assumingMemoryBound(to: redisReply.self).pointee)
        }

        /// The bytes that have arrived and are not part of a parsed item.
        private var unparsed: Slice<UnsafeRawBufferPointer> {
            let reader = context.pointee.reader.pointee
            return UnsafeRawBufferPointer(start: reader.buf, count: reader.len).dropFirst(reader.pos)
        }

        /// Whether no bytes have arrived that no command has asked for. The next call would take them for its replies.
        var isSilent: Bool {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return unparsed.isEmpty && poll(&entry, 1, 0) == 0
        }

        /// Reads bytes that have arrived; returns their number.
        func read() throws(LinkFailure) -> Int {
            while true {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if count > 0 {
                    let bytes = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                    guard redisReaderFeed(context.pointee.reader, bytes, count) == REDIS_OK else {
                        throw .malformed("out of memory")
                    }
                    return count
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return 0 }
                throw .closed
            }
        }

        private func wait(for events: Int32, until deadline: Deadline) throws(LinkFailure) {
            while true {
                var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
                let milliseconds = deadline.millisecondsLeft
                let count = poll(&entry, 1, milliseconds)
                if count > 0 { return }
                if count < 0, errno != EINTR { throw .closed }
                guard milliseconds > 0 else { throw .timedOut }
            }
        }

        private static func reply(_ raw: inout redisReply) -> Reply {
            switch raw.type {
            case REDIS_REPLY_STRING: return .data(data(&raw))
            case REDIS_REPLY_STATUS: return .status(text(of: raw))
            case REDIS_REPLY_ERROR: return .error(ServerError(text(of: raw)))
            case REDIS_REPLY_INTEGER: return .number(Int(raw.integer))
            case REDIS_REPLY_ARRAY:
                return .array((0..<raw.elements).map { raw.element[$0].map { reply(&$0.pointee) } ?? .null })
            default: return .null
            }
        }

        /// The bytes of a string. Those of a long one are taken from the reply, not copied.
        private static func data(_ raw: inout redisReply) -> Data {
            guard raw.len > 4096, let bytes = raw.str else { return Data(bytes: raw.str, count: raw.len) }
            raw.str = nil
            return Data(bytesNoCopy: bytes, count: raw.len, deallocator: .free)
        }

        private static func text(of raw: redisReply) -> String {
            String(decoding: UnsafeRawBufferPointer(start: raw.str, count: raw.len), as: UTF8.self)
        }

        /// The text of a C array of characters, up to the NUL.
        private static func text<Characters>(of characters: Characters) -> String {
            withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }

        static func text(of error: ServerError) -> String {
            switch error {
            case .refusesWrites(let text), .refusesKey(let text), .unavailable(let text), .other(let text): text
            case .noScript: "NOSCRIPT"
            case .moved, .ask: "a redirection"
            }
        }
    }

    /// Limits the arrays of a reply, because hiredis allocates an array as soon as the reply gives its length.
    private enum ReplyLimits {
        typealias Functions = UnsafeMutablePointer<redisReplyObjectFunctions>

        private static let longestArray = 8192
        /// The most elements of all arrays of a reply.
        private static let maximumElements = 8 * longestArray
        /// What the number of elements becomes when a reply exceeds a limit.
        static let tooMany = Int.max

        private static let original = standard?.pointee.createArray
        /// The functions of hiredis.
        nonisolated(unsafe) private static let standard: Functions? = {  // no code writes what it points to
            guard let reader = redisReaderCreate() else { return nil }
            defer { redisReaderFree(reader) }
            return reader.pointee.fn
        }()
        /// The same functions, with the limit.
        nonisolated(unsafe) static let functions: Functions? = {  // written here, and then only read
            guard let standard else { return nil }
            let functions = Functions.allocate(capacity: 1)
            functions.initialize(to: standard.pointee)
            functions.pointee.createArray = { task, count in
                guard let elements = task?.pointee.privdata?.assumingMemoryBound(to: Int.self) else { return nil }
                if task?.pointee.parent == nil { elements.pointee = 0 }
                elements.pointee += Int(count)
                guard Int(count) <= longestArray, elements.pointee <= maximumElements else {
                    elements.pointee = tooMany
                    return nil
                }
                return original?(task, count)
            }
            return functions
        }()
    }

    /// A moment by a clock that does not go back.
    struct Deadline: Sendable {
        private let nanoseconds: UInt64

        init(after seconds: TimeInterval) {
            nanoseconds = DispatchTime.now().uptimeNanoseconds &+ UInt64(max(0, min(seconds, 3600)) * 1e9)
        }

        /// Rounded up.
        var millisecondsLeft: Int32 {
            let now = DispatchTime.now().uptimeNanoseconds
            return nanoseconds <= now ? 0 : Int32(clamping: (nanoseconds - now + 999_999) / 1_000_000)
        }
    }
#endif
