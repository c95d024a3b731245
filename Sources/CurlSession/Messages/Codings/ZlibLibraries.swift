import CContentCodings

/// zlib's `z_stream`. It must not move in memory, because zlib keeps a pointer to it.
private final class Inflater {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    /// - Parameter windowBits: zlib's code for the format: 31 gzip, 15 zlib, -15 raw.
    init(windowBits: Int32) {
        stream.initialize(to: z_stream())
        isReady = synchronizer_inflate_init(stream, windowBits) == Z_OK
    }

    /// Whether zlib got the memory it needs.
    private let isReady: Bool

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    func reset(windowBits: Int32) -> Bool { isReady && inflateReset2(stream, windowBits) == Z_OK }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> CodingStep {
        let (available, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
        // zlib does not write through `next_in`.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = available
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = room
        let code = inflate(stream, Z_NO_FLUSH)
        guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { throw .corrupt }
        return CodingStep(
            consumed: Int(available - stream.pointee.avail_in), produced: Int(room - stream.pointee.avail_out),
            ended: code == Z_STREAM_END)
    }
}

/// Decodes gzip (RFC 1952).
final class GzipLibrary: CodingLibrary {
    private let inflater = Inflater(windowBits: 31)

    let signatureLength = 2
    let hasSeveralStreams = true

    func begin(_ signature: UnsafeRawBufferPointer) -> Bool {
        signature[0] == 0x1F && signature[1] == 0x8B && inflater.reset(windowBits: 31)
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> CodingStep {
        try inflater.decode(input, into: output)
    }
}

/// Decodes deflate: in zlib's format (RFC 1950), or raw (RFC 1951).
final class DeflateLibrary: CodingLibrary {
    private let inflater = Inflater(windowBits: 15)

    let signatureLength = 2
    let hasSeveralStreams = false

    /// Accepts every stream. A zlib header has compression method 8 and a window of at most 32 KB, and is a multiple of 31. A raw
    /// stream could begin like that only if an encoder set the padding bits before a stored block, which no encoder does.
    func begin(_ signature: UnsafeRawBufferPointer) -> Bool {
        let isWrapped =
            signature[0] & 0x0F == 8 && signature[0] >> 4 <= 7
            && (Int(signature[0]) << 8 | Int(signature[1])) % 31 == 0
        return inflater.reset(windowBits: isWrapped ? 15 : -15)
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> CodingStep {
        try inflater.decode(input, into: output)
    }
}
