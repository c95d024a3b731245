import CContentCodings

/// Decodes zstd (RFC 8878). Its window is at most 8 MB, the limit of RFC 9659 for HTTP.
final class ZstdLibrary: CodingLibrary {
    private let context = ZSTD_createDCtx()

    let signatureLength = 4
    let hasSeveralStreams = true

    init() {
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 23)
    }

    deinit { ZSTD_freeDCtx(context) }

    /// Accepts frames and skippable frames. Rejects formats older than RFC 8878, which libzstd may support.
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
