import ImageResource

/// A photograph of a size that people have, made of a smaller one.
///
/// The free photographs that come with the server are smaller than what people have. Enlarged, with the grain of a
/// sensor, they take as many bytes and as much work to decode as a photograph of that size does.
struct Enlargement {
    /// What a service serves for a large screen: some 650 KB.
    static let large = Enlargement(width: 2_048, height: 1_536, quality: 0.85)
    /// What it serves for a page of many: some 270 KB.
    static let small = Enlargement(width: 1_280, height: 960, quality: 0.85)
    /// What a camera of 24 megapixels has written: some 8 MB.
    static let original = Enlargement(width: 6_000, height: 4_000, quality: 0.93)

    let width: Int
    let height: Int
    /// Of the JPEG, from 0 to 1.
    let quality: Double

    /// The most that the grain adds to a value or takes from it.
    private static let grain = 14

    /// The middle of an image, in the proportions of the enlargement; the same pixels each time.
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
                            let value = Self.blend(source, image.bytesPerRow, column, row, channel)
                            target[place + channel] = UInt8(clamping: value + change)
                        }
                        target[place + 3] = 255
                        place += 4
                    }
                }
            }
        }
    }

    /// Between which two pixels a place is, and how near to the second, in 256ths.
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
        _ pixels: UnsafeRawBufferPointer, _ bytesPerRow: Int, _ column: Sample, _ row: Sample, _ channel: Int
    ) -> Int {
        func value(_ x: Int, _ y: Int) -> Int { Int(pixels[y * bytesPerRow + x * 4 + channel]) }
        func between(_ y: Int) -> Int {
            value(column.first, y) * (256 - column.share) + value(column.second, y) * column.share
        }
        return (between(row.first) * (256 - row.share) + between(row.second) * row.share) >> 16
    }

    /// Numbers around zero, small ones more often; the same in each run.
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
