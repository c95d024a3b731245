import ImageResource

/// Makes a photograph of a typical size from a smaller one.
///
/// The free photographs of the server are smaller than typical ones. Enlarged, and with the grain of a
/// sensor, they take as many bytes and as much decoding work as photographs of that size.
struct Enlargement {
    /// As services serve for a large screen: some 650 KB.
    static let large = Enlargement(width: 2_048, height: 1_536, quality: 0.85)
    /// As services serve for a page of many images: some 270 KB.
    static let small = Enlargement(width: 1_280, height: 960, quality: 0.85)
    /// As a camera of 24 megapixels writes: some 8 MB.
    static let original = Enlargement(width: 6_000, height: 4_000, quality: 0.93)

    let width: Int
    let height: Int
    /// The quality of the JPEG, from 0 to 1.
    let quality: Double

    /// The largest deviation that the grain adds to a value.
    private static let grain = 14

    /// Enlarges the middle of an image, in the aspect ratio of the result. The pixels are the same each time.
    func of(_ image: BitmapImage) -> BitmapImage? {
        let scale = min(Double(image.width) / Double(width), Double(image.height) / Double(height))
        let left = (Double(image.width) - Double(width) * scale) / 2
        let top = (Double(image.height) - Double(height) * scale) / 2
        let columns = (0..<width).map { Sample(at: left + Double($0) * scale, of: image.width) }
        let rows = (0..<height).map { Sample(at: top + Double($0) * scale, of: image.height) }
        var noise = Noise()
        return BitmapImage(width: width, height: height, isOpaque: true) { target in
            image.withUnsafeBytes { source in
                var place = 0
                for row in rows {
                    for column in columns {
                        let change = noise.next(upTo: Self.grain)
                        for channel in 0..<3 {
                            let value = Self.blend(
                                source, bytesPerRow: image.bytesPerRow, column: column, row: row, channel: channel)
                            target[place + channel] = UInt8(clamping: value + change)
                        }
                        target[place + 3] = 255
                        place += 4
                    }
                }
            }
        }
    }

    /// The two pixels around a position, and the weight of the second, in 256ths.
    private struct Sample {
        let first, second, share: Int

        init(at place: Double, of count: Int) {
            let place = max(0, min(place, Double(count - 1)))
            first = Int(place)
            second = min(first + 1, count - 1)
            share = Int((place - Double(first)) * 256)
        }
    }

    private static func blend(
        _ pixels: UnsafeRawBufferPointer, bytesPerRow: Int, column: Sample, row: Sample, channel: Int
    ) -> Int {
        func value(x: Int, y: Int) -> Int { Int(pixels[y * bytesPerRow + x * 4 + channel]) }
        func between(_ y: Int) -> Int {
            value(x: column.first, y: y) * (256 - column.share) + value(x: column.second, y: y) * column.share
        }
        return (between(row.first) * (256 - row.share) + between(row.second) * row.share) >> 16
    }

    /// Random numbers around zero, mostly small; the same in each run.
    private struct Noise {
        private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

        mutating func next(upTo most: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            let (one, other) = (Int(state & 0xFFFF), Int(state >> 16 & 0xFFFF))
            return ((one + other - 0xFFFF) * most) >> 16
        }
    }
}
