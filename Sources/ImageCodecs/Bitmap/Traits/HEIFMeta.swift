#if AVIF
    import Foundation

    /// The `meta` box of a file. It may extend to the end of the file without stating its length (ISO/IEC 14496-12 §4.2).
    enum HEIFMeta {
        /// The file with the length of that box in its header, as libavif 0.11 requires; nil if it is there already.
        static func withExplicitLength(_ file: ByteReader) -> Data? {
            guard let meta = Boxes(file, from: 0).first(where: { $0.has("meta") }), meta.header.big32(0) == 0,
                let start = file.bytes.baseAddress, let header = meta.header.bytes.baseAddress
            else { return nil }
            let offset = start.distance(to: header)
            let length = UInt32(clamping: file.count - offset)
            var data = Data(file.bytes)
            withUnsafeBytes(of: length.bigEndian) { data.replaceSubrange(offset..<offset + 4, with: $0) }
            return data
        }
    }
#endif
