/// A library that decodes one coding.
protocol CodingLibrary: AnyObject {
    /// The number of bytes by which `begin` recognizes a stream.
    var signatureLength: Int { get }
    /// Whether another stream may follow the first one.
    var hasSeveralStreams: Bool { get }
    /// Prepares for a stream that begins with `signature`, which will also be passed to `decode`.
    /// - Returns: Whether a stream can begin with these bytes.
    func begin(_ signature: UnsafeRawBufferPointer) -> Bool
    /// Decodes as much as fits into `output`. The input may be empty, because the library may still have output.
    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> CodingStep
}

/// The result of one call of `decode`.
struct CodingStep {
    var consumed: Int
    var produced: Int
    /// Whether the stream has ended.
    var ended: Bool
}

/// Why a body cannot be decoded.
enum ContentDecodingError: Error, Sendable, Hashable {
    /// The body ended before its coding did.
    case truncated
    /// The bytes are not valid in the coding, or need a larger window than it allows.
    case corrupt
    /// The coded bytes, or those between two codings, are far more than the bytes that they decode to.
    case excessive
}
