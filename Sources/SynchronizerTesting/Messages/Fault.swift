extension Reply {
    /// The fault of a reply.
    public enum Fault: Hashable, Sendable {
        /// Nothing more is sent. The connection stays open until the client disconnects or the server is stopped.
        case silence(Moment)
        /// The connection is closed (FIN). This truncates a body that is being sent.
        case close(Moment)
        /// The connection is reset (RST).
        case reset(Moment)
        /// `Content-Length` has this value, and the whole body follows. If the value is larger than the body, the
        /// connection is closed after the body. If it is smaller, the whole body is sent anyway.
        case contentLength(Int)
        /// After this many bytes of content, a chunk has an invalid size. Then the connection is closed.
        case badChunkSize(after: Int)
        /// The chunks lack the line break after their content.
        case missingChunkEnd
        /// After the last chunk of content the connection is closed, without the chunk of size 0.
        case missingLastChunk
        /// The head contains a malformed line.
        case garbageField(Garbage)
        /// The body is repeated until the client disconnects. It is framed by chunks, or else by the end of the connection.
        case endlessBody
    }

    /// What a broken field line looks like.
    public enum Garbage: Hashable, Sendable, CaseIterable {
        /// A line without a colon.
        case withoutColon
        /// A value with a NUL in it.
        case nul
        /// A value with a byte above 127 that is not UTF-8.
        case byteAbove127

        var line: [UInt8] {
            switch self {
            case .withoutColon: return Array("this line has no colon\r\n".utf8)
            case .nul: return Array("X-Nul: a".utf8) + [0] + Array("b\r\n".utf8)
            case .byteAbove127: return Array("X-Latin: caf".utf8) + [0xE9] + Array("\r\n".utf8)
            }
        }
    }
}
