import Foundation
import ImageResource
import ImageYardsticks
import Measuring

/// How long it takes to read a size from a header, beside what libjpeg takes for one of a JPEG.
enum HeaderRows {
    private static let count = 5_000
    private static let jpeg = "icc-rgb.jpg"
    private static let files = [
        jpeg, "jpeg-orientation-6.jpg", "png-orientation-6.png", "gif-two.gif", "webp-turned.webp", "avif-alpha.avif",
        "heic-plain.heic", "jxl-lossy.jxl", "svg-rectangles.svg",
    ]

    static func row() throws -> Row {
        let jpeg = try sample(jpeg)
        let comparisons = try files.map { file in
            let data = try sample(file)
            return try Comparison {
                var pixels = 0
                let time = nanoseconds { for _ in 0..<count { pixels += ImageHeader(data)?.pixelWidth ?? 0 } }
                guard pixels > 0 else { throw BenchmarkError("\(file) has no size") }
                return time / Double(count)
            } against: {
                try headers(jpeg)
            }
        }
        let slowest = comparisons.indices.max { comparisons[$0].ratio < comparisons[$1].ratio } ?? 0
        return Row(
            "header dimensions, the slowest of eight formats (\(files[slowest]))", comparisons[slowest],
            unit: .microseconds, against: "a JPEG's header by libjpeg", .atMost(1.5))
    }

    private static func sample(_ file: String) throws -> Data {
        try Data(contentsOf: Pictures.samples.appendingPathComponent(file))
    }

    private static func headers(_ jpeg: Data) throws -> Double {
        let time = jpeg.withUnsafeBytes { bytes in
            yardstick_jpeg_headers(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, Int32(count))
        }
        guard time > 0 else { throw BenchmarkError("the sample is no JPEG") }
        return Double(time) / Double(count)
    }
}
