import CContentCodings
import Foundation

/// Encodes bodies for tests.
enum Encoder {
    static let text = (0..<200).map { "Line \($0) of a body that is encoded.\n" }.joined()

    /// `text` in br: no encoder is linked.
    static let brotli = bytes(
        """
        G7Eb4B0HbqzYqrZB7pxJp6QPmFsZhsWWwluCmM1hxA5AGh5KGkcSePjgkJtfMMxKknYd8Nabzyjo/T9gzyEbjCazxdrG1m4KJ4cAiUJjsHFw\
        7SILgUShMdg4uHZRhUCi0BhsHFy76EIgUWgMNg6uXUwhkCg0BhsH1y52IZAoNAYbB9cuTiGQKDQGGwfXLm4hkCg0BhsH1y5eIZAoNAYbB/c7\
        QkwLhVKl1mjr6OJVlEKpUmu0dXTxKkuhVKk12jq6eFWlUKrUGm0dXbzqUihVao22ji5eTSmUKrVGW0cXr3YplCq1RltHF69OKZQqtUZbRxev\
        bimUKrVGW0cXr14plCq1RltHd/kA
        """)
    /// 64 MB of zeros.
    static let brotliBomb = bytes("z///f/gnAOKxQCD3/p/////wTwDEYQGA7v0/////4Z8AiMMiAN37//z//8c/ARCHBQC69/8=")
    static let emptyBrotli = bytes("Bg==")

    /// zlib with its code for the format: 31 gzip, 15 zlib, -15 raw.
    static func deflate(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        precondition(
            deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK)
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 32)
        return input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                precondition(CContentCodings.deflate(&stream, Z_FINISH) == Z_STREAM_END)
                return Array(output[..<(output.count - Int(stream.avail_out))])
            }
        }
    }

    static func gzip(_ bytes: [UInt8]) -> [UInt8] { deflate(bytes, windowBits: 31) }

    static func zstd(_ bytes: [UInt8], windowLog: Int32 = 0) -> [UInt8] {
        let context = ZSTD_createCCtx()
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLog)
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0)
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        var target = ZSTD_outBuffer(dst: nil, size: output.count, pos: 0)
        output.withUnsafeMutableBytes { output in
            bytes.withUnsafeBytes { bytes in
                var source = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
                target.dst = output.baseAddress
                // Not all at once, or the frame would need no window.
                ZSTD_compressStream2(context, &target, &source, ZSTD_e_continue)
                precondition(ZSTD_compressStream2(context, &target, &source, ZSTD_e_end) == 0)
            }
        }
        return Array(output[..<target.pos])
    }

    private static func bytes(_ base64: String) -> [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }
}
