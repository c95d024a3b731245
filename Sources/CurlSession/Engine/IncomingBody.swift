import Foundation

/// The body of a response on its way from libcurl to the task: removes the framing of chunks, decodes the bytes, and keeps those
/// that have to wait.
///
/// libcurl delivers 16 KB at a time, and each piece costs a call of the delegate. So decoded bytes are gathered until the end of
/// the engine's iteration, or until they are a piece of 64 KB. A small body of a known length becomes one piece, without a copy.
struct IncomingBody {
    static let maximumPiece = 64 << 10
    private static let maximumEmptyCoding = 1 << 20

    /// The framing; nil if the body is not in chunks.
    private(set) var chunks: ChunkDecoder?
    /// Whether the body has a transfer coding in its chunks. Newer versions of libcurl then do not notice the last chunk.
    private var hasCodingInChunks = false
    private var decoder: ContentDecoder?
    private var decoderMayHaveOutput = false
    /// Whether nothing but the end of the coding says where the body ends.
    private var endsWithCoding = false
    private var backlog: [UInt8] = []
    private var pieces = Data()
    /// Bytes of the body that have not arrived, if the head gives its length.
    private var missing: Int?
    /// The numbers of bytes of a coded body, before and after decoding.
    private var coded = 0
    private var decoded = 0

    /// Whether all received bytes have been gathered.
    var isEmpty: Bool { backlog.isEmpty && !decoderMayHaveOutput }
    /// The number of bytes that wait for a decision about the head, or for the decoder.
    var backlogCount: Int { backlog.count }

    /// - Parameter hasContent: False if the request was a HEAD.
    mutating func begin(_ head: CurlResponseHead, hasContent: Bool = true) {
        let codings = BodyLength.transferCodings(head.fields)
        if codings.contains("chunked"), head.version.hasPrefix("HTTP/1") {
            chunks = ChunkDecoder()
            hasCodingInChunks = codings.contains { $0 != "chunked" }
        }
        decoder = ContentDecoder(head)
        let length = head.fields.first { $0.isNamed(FieldName.contentLength) }.flatMap { Int($0.value) }
        missing = [204, 304].contains(head.status) ? 0 : length
        endsWithCoding = decoder != nil && missing == nil && hasContent && !head.version.hasPrefix("HTTP/1")
    }

    /// Notes that bytes of the body have arrived.
    mutating func arrived(_ count: Int) { missing = missing.map { max(0, $0 - count) } }

    /// Whether the whole body has arrived. False if only the end of the connection says where the body ends.
    var hasArrived: Bool { chunks.map(\.hasEnded) ?? (missing == 0) }

    /// The number of bytes that have not arrived; 0 if the head does not give the body's length.
    var remaining: Int { missing ?? 0 }

    /// Whether only the end of the connection says where the body ends.
    var endsWithConnection: Bool { chunks == nil && missing == nil }

    /// Whether the whole body has arrived, or `finish` tells whether it has.
    var showsEnd: Bool { hasArrived || endsWithCoding && coded > 0 }

    /// Takes the next part from the front of the bytes of a body in chunks; nil if there is none.
    mutating func nextPart(
        _ bytes: inout Slice<UnsafeRawBufferPointer>
    ) throws(ChunkDecoder.Malformed) -> ChunkDecoder.Part? {
        try chunks?.next(&bytes)
    }

    /// Whether the body has all its chunks. A response without a body may claim to be in chunks.
    var isWhole: Bool { chunks.map { $0.hasEnded || !$0.hasBegun } ?? true }

    /// Whether the body is complete, but libcurl may wait for more of it.
    var mustEndTransfer: Bool { hasCodingInChunks && chunks?.hasEnded == true }

    /// Takes bytes from libcurl, without their framing. `pump` decodes and gathers them.
    mutating func append(_ bytes: UnsafeRawBufferPointer) { backlog.append(contentsOf: bytes) }

    /// Decodes and gathers the bytes that wait, while there is room.
    /// - Parameters:
    ///   - scratch: The buffer to decode into.
    ///   - deliver: Receives each large piece.
    mutating func pump(
        _ scratch: UnsafeMutableRawBufferPointer, whileRoom hasRoom: () -> Bool, deliver: (Data) -> Void
    ) throws(ContentDecodingError) {
        guard let decoder else {
            guard hasRoom() else { return }
            backlog.withUnsafeBytes { gather($0, deliver) }
            return backlog = []
        }
        while !isEmpty, hasRoom() {
            if !decoderMayHaveOutput {
                backlog.withUnsafeBytes { decoder.push($0) }
                coded += backlog.count
                backlog = []
            }
            let count = try decoder.pull(into: scratch)
            decoderMayHaveOutput = count > 0
            decoded += count
            // Bytes that decode to nothing, such as those after the end of the coding, would escape any limit for decoded bytes.
            guard count > 0 || coded - Self.maximumEmptyCoding <= decoded * 64 else { throw .excessive }
            gather(UnsafeRawBufferPointer(rebasing: scratch[..<count]), deliver)
        }
    }

    /// Whether received bytes can be gathered without `pump`.
    var isDirect: Bool { decoder == nil && backlog.isEmpty }

    mutating func dropBacklog() { backlog = [] }

    /// Ends the body. Throws if its coding has not ended. A body without any byte is complete in every coding, as in browsers.
    func finish() throws(ContentDecodingError) { try decoder?.finish() }

    /// Removes and returns the gathered bytes.
    mutating func take() -> Data {
        defer { pieces = Data() }
        return pieces
    }

    /// Adds decoded bytes, and delivers a piece that has become large.
    mutating func gather(_ bytes: UnsafeRawBufferPointer, _ deliver: (Data) -> Void) {
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress, !bytes.isEmpty else { return }
        if pieces.isEmpty {
            // At most four times the received bytes: if few bytes arrive at a time, many pieces may wait for a slow delegate.
            let more = decoder == nil ? min(missing ?? 0, 3 * bytes.count) : 0
            pieces = Data(capacity: max(bytes.count, min(bytes.count + more, Self.maximumPiece)))
        }
        pieces.append(base, count: bytes.count)
        if pieces.count >= Self.maximumPiece { deliver(take()) }
    }
}
