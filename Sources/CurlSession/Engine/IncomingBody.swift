import Foundation

/// The body of a response on its way from libcurl to the task: its codings are undone, and what has to wait is kept.
///
/// What comes out is gathered until the end of the engine's turn, or until there is a piece of 64 KB: libcurl delivers 16 KB at
/// a time, and each piece costs the delegate a call. A small body of a known length becomes a single piece, without a copy.
struct IncomingBody {
    static let largestPiece = 64 << 10
    private static let largestEmptyCoding = 1 << 20

    private var decoder: ContentDecoder?
    private var decoderMayHaveOutput = false
    private var backlog: [UInt8] = []
    private var pieces = Data()
    /// Bytes of the body that are still to come, if the head says so.
    private var expected: Int?
    /// Bytes of a coded body, before and after decoding.
    private var coded = 0
    private var decoded = 0

    /// Whether all that has come has been gathered.
    var isEmpty: Bool { backlog.isEmpty && !decoderMayHaveOutput }
    /// Bytes that wait for a decision about the head, or for the decoder.
    var backlogCount: Int { backlog.count }

    mutating func begin(_ head: CurlResponseHead) {
        decoder = ContentDecoder(head)
        guard decoder == nil else { return }
        expected = head.fields.first { $0.isNamed(FieldName.contentLength) }.flatMap { Int($0.value) }
    }

    /// Takes bytes from libcurl; `pump` moves them on.
    /// - Returns: False if too much of a coded body decodes to nothing.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        backlog.append(contentsOf: bytes)
        guard decoder != nil else { return true }
        coded += bytes.count
        // Such as what follows the end of the coding: it would escape every limit for decoded bytes.
        return coded - Self.largestEmptyCoding <= decoded * 64
    }

    /// Moves on what waits, while there is room.
    /// - Parameters:
    ///   - scratch: Where to decode.
    ///   - deliver: Takes what is not gathered any longer.
    mutating func pump(
        _ scratch: UnsafeMutableRawBufferPointer, whileRoom hasRoom: () -> Bool, deliver: (Data) -> Void
    ) throws(ContentDecodingError) {
        guard let decoder else {
            backlog.withUnsafeBytes { gather($0, deliver) }
            return backlog = []
        }
        while !isEmpty, hasRoom() {
            if !decoderMayHaveOutput {
                backlog.withUnsafeBytes { decoder.push($0) }
                backlog = []
            }
            let count = try decoder.pull(into: scratch)
            decoderMayHaveOutput = count > 0
            decoded += count
            gather(UnsafeRawBufferPointer(rebasing: scratch[..<count]), deliver)
        }
    }

    /// Whether bytes need not wait for `pump`.
    var isDirect: Bool { decoder == nil && backlog.isEmpty }

    mutating func dropBacklog() { backlog = [] }

    /// The body is complete.
    func finish() throws(ContentDecodingError) { try decoder?.finish() }

    /// What has been gathered.
    mutating func take() -> Data {
        defer { pieces = Data() }
        return pieces
    }

    /// Adds bytes that are as the delegate gets them.
    mutating func gather(_ bytes: UnsafeRawBufferPointer, _ deliver: (Data) -> Void) {
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress, !bytes.isEmpty else { return }
        if pieces.isEmpty {
            // No more than four times as much, because a delegate that is behind holds many pieces of what trickles in.
            pieces = Data(capacity: max(bytes.count, min(expected ?? 0, 4 * bytes.count, Self.largestPiece)))
        }
        pieces.append(base, count: bytes.count)
        expected = expected.map { max(0, $0 - bytes.count) }
        if pieces.count >= Self.largestPiece { deliver(take()) }
    }
}
