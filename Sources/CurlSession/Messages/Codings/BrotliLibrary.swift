import CContentCodings

/// Decodes br (RFC 7932). Its window is at most 16 MB.
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
