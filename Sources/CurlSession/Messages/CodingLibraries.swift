import CContentCodings

/// zlib's `z_stream`, which refers to itself: it must not move.
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

/// RFC 1952.
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

/// RFC 1950, or RFC 1951 without its wrapper.
final class DeflateLibrary: CodingLibrary {
    private let inflater = Inflater(windowBits: 15)

    let signatureLength = 2
    let hasSeveralStreams = false

    /// A zlib header has compression method 8, a window of at most 32 KB, and is a multiple of 31. A raw stream cannot begin so
    /// unless an encoder fills the padding before a stored block, which none does.
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

/// RFC 7932. Its window is at most 16 MB.
final class BrotliLibrary: CodingLibrary {
    private let state = BrotliDecoderCreateInstance(nil, nil, nil)

    let signatureLength = 0
    let hasSeveralStreams = false

    deinit { BrotliDecoderDestroyInstance(state) }

    func begin(_ signature: UnsafeRawBufferPointer) -> Bool { state != nil }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> CodingStep {
        var (available, room) = (input.count, output.count)
        var next = input.bindMemory(to: UInt8.self).baseAddress
        var free = output.bindMemory(to: UInt8.self).baseAddress
        let result = BrotliDecoderDecompressStream(state, &available, &next, &room, &free, nil)
        guard result != BROTLI_DECODER_RESULT_ERROR else { throw .corrupt }
        return CodingStep(
            consumed: input.count - available, produced: output.count - room,
            ended: result == BROTLI_DECODER_RESULT_SUCCESS)
    }
}

/// RFC 8878, with the window of at most 8 MB that RFC 9659 sets for HTTP.
final class ZstdLibrary: CodingLibrary {
    private let context = ZSTD_createDCtx()

    let signatureLength = 4
    let hasSeveralStreams = true

    init() {
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 23)
    }

    deinit { ZSTD_freeDCtx(context) }

    /// A frame, or a skippable frame. Formats from before RFC 8878, which libzstd may know, are rejected.
    func begin(_ signature: UnsafeRawBufferPointer) -> Bool {
        let magic = UInt32(littleEndian: signature.loadUnaligned(as: UInt32.self))
        return context != nil && (magic == 0xFD2F_B528 || magic & 0xFFFF_FFF0 == 0x184D_2A50)
    }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> CodingStep {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(context, &target, &source)
        guard ZSTD_isError(result) == 0 else { throw .corrupt }
        return CodingStep(consumed: source.pos, produced: target.pos, ended: result == 0)
    }
}
