#if canImport(ImageIO)
    import CoreGraphics
    import Foundation
    import ImageCodecs

    // The pixels as they are stored next to the response that they were decoded from: scale, width, height and the length of
    // the colour space's profile, each in 8 bytes; then the profile, and rows of premultiplied BGRA without gaps.
    extension PlatformImage {
        private static var headSize: Int { 32 }

        /// The image as bytes; nil if it has more than 8 bits per channel or no colour profile, or if memory runs out.
        var storedForm: Data? {
            guard var canvas = try? ImageCanvas(self), canvas.isExact, let profile = canvas.profile else { return nil }
            let (size, rowBytes) = (canvas.size, canvas.size.width * 4)
            var data = Data(capacity: Self.headSize + profile.count + rowBytes * size.height)
            for number in [canvas.scale.bitPattern, UInt64(size.width), UInt64(size.height), UInt64(profile.count)] {
                withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
            }
            data.append(profile)
            do {
                try canvas.edit { pixels in
                    for row in 0..<size.height {
                        let start = pixels.base + row * pixels.bytesPerRow
                        data.append(contentsOf: UnsafeRawBufferPointer(start: start, count: rowBytes))
                    }
                }
            } catch {
                return nil
            }
            return data
        }

        /// Creates an image from `storedForm`; nil if the bytes are something else.
        static func make(storedForm data: Data) -> PlatformImage? {
            data.withUnsafeBytes { bytes -> PlatformImage? in
                guard bytes.count > headSize else { return nil }
                let head = (0..<4).map {
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
                }
                let scale = Double(bitPattern: head[0])
                guard scale.isFinite, scale > 0, let width = Int(exactly: head[1]), let height = Int(exactly: head[2]),
                    let profileSize = Int(exactly: head[3]), width > 0, height > 0, profileSize < bytes.count
                else { return nil }
                let (pixels, overflows) = width.multipliedReportingOverflow(by: height)
                guard !overflows, pixels <= bytes.count / 4, headSize + profileSize + pixels * 4 == bytes.count
                else { return nil }
                let profile = Data(bytes[headSize..<headSize + profileSize])
                let rows = UnsafeRawBufferPointer(rebasing: bytes[(headSize + profileSize)...])
                return ImageCanvas(PixelSize(width: width, height: height), profile: profile, scale: scale, rows: rows)
                    .flatMap { try? $0.image }
            }
        }
    }
#endif
