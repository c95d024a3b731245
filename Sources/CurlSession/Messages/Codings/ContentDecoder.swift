/// Undoes the content codings of a body (RFC 9110 §8.4), incrementally and in bounded memory.
///
/// Push a chunk of the body, then pull until `pull` returns 0. A caller that has to pause stops pulling; it pushes the next
/// chunk only when `pull` has returned 0. So the decoder buffers one chunk, at most 16 KB between two codings, and one window
/// for each coding: at most 8 MB for zstd (RFC 9659), 16 MB for br, 32 KB for gzip and deflate. `pull` returns as soon as it
/// has output, so a caller that counts the decoded bytes can stop in the middle of a decompression bomb.
///
/// With two codings, the outer one may inflate to many bytes that the inner one decodes to few or none. So the decoder counts the
/// bytes between the codings, and fails if they exceed 64 times the decoded bytes by more than 1 MB. An unused part of this
/// allowance is not kept for later, so each call of `pull` does a bounded amount of work.
///
/// - gzip (also `x-gzip`): all members, with their optional header fields. Checksums and lengths are verified.
/// - deflate: wrapped in zlib's format, as specified, or raw, as some servers send it.
/// - br.
/// - zstd: all frames, including skippable ones.
/// - Each stream has to reach its end, or `finish` throws. Bytes after it are ignored, as in browsers.
/// - A body without any byte is valid in every coding: servers label responses to HEAD and empty bodies that way.
///
/// Use it from one thread at a time.
final class ContentDecoder {
    /// The maximum number of codings that are decoded. Real servers apply one. Each may need a window of 16 MB.
    static let maximumCodings = 2
    /// The maximum number of bytes between two codings in excess of 64 times the decoded bytes.
    static let maximumExcess = 1 << 20

    /// The codings, in the order in which they are decoded.
    private let stages: [CodingStage]
    /// Bytes between two codings in excess of 64 times the decoded bytes.
    private var excess = 0

    /// Returns nil if there is nothing to decode, if a coding is unknown, or if there are more than `maximumCodings`. Then the body
    /// is delivered as it is.
    /// - Parameter codings: The values of the `Content-Encoding` lines, in order. Each may be a list.
    init?(codings: [String]) {
        let names = Self.names(codings).filter { $0 != "identity" }
        guard !names.isEmpty, names.count <= Self.maximumCodings else { return nil }
        var stages: [CodingStage] = []
        for name in names.reversed() {
            guard let library = Self.library(name) else { return nil }
            stages.append(CodingStage(library))
        }
        self.stages = stages
    }

    /// Creates a decoder for the content codings of a response, and for its transfer codings, which were applied afterwards.
    convenience init?(_ head: CurlResponseHead) {
        let isCoded = head.fields.contains {
            $0.isNamed(FieldName.contentEncoding) || $0.isNamed(FieldName.transferEncoding)
        }
        guard isCoded else { return nil }
        let values = { (name: String) in head.fields.filter { $0.isNamed(name) }.map(\.value) }
        let transferCodings = Self.names(values(FieldName.transferEncoding)).filter { $0 != "chunked" }
        self.init(codings: values(FieldName.contentEncoding) + transferCodings)
    }

    private static func names(_ codings: [String]) -> [String] {
        codings.flatMap { $0.split(separator: ",") }
            .map { $0.drop { $0.isWhitespace }.prefix { !$0.isWhitespace }.lowercased() }
            .filter { !$0.isEmpty }
    }

    /// The `Accept-Encoding` that asks for these codings.
    static let acceptEncoding = "gzip, deflate, br, zstd"

    /// Adds a chunk of the encoded body.
    func push(_ input: UnsafeRawBufferPointer) {
        stages[0].push(input)
    }

    /// Decodes into `output`.
    /// - Returns: The number of bytes written. 0 means that all of the input so far has been decoded.
    func pull(into output: UnsafeMutableRawBufferPointer) throws(ContentDecodingError) -> Int {
        guard !output.isEmpty else { return 0 }
        let count = try pull(stages.count - 1, into: output)
        excess = max(0, excess - count * 64)
        return count
    }

    /// Ends the body. Call it when `pull` has returned 0 after the last chunk.
    func finish() throws(ContentDecodingError) {
        for stage in stages { try stage.finish() }
    }

    private func pull(_ index: Int, into output: UnsafeMutableRawBufferPointer) throws(ContentDecodingError) -> Int {
        let stage = stages[index]
        while true {
            let count = try stage.decode(into: output)
            if count > 0 { return count }
            guard index > 0 else { return 0 }
            guard try refill(stage, from: index - 1) else { return 0 }
        }
    }

    private func refill(_ stage: CodingStage, from index: Int) throws(ContentDecodingError) -> Bool {
        let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
        defer { space.deallocate() }
        let count = try pull(index, into: space)
        excess += count
        guard excess <= Self.maximumExcess else { throw .excessive }
        stage.push(UnsafeRawBufferPointer(rebasing: space[..<count]))
        return count > 0
    }

    private static func library(_ coding: String) -> (any CodingLibrary)? {
        switch coding {
        case "gzip", "x-gzip": GzipLibrary()
        case "deflate": DeflateLibrary()
        case "br": BrotliLibrary()
        case "zstd": ZstdLibrary()
        default: nil
        }
    }
}
