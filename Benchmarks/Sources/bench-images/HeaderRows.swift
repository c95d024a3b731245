import Foundation
import ImageResource
import Measuring

/// How long it takes to read a size from a header.
enum HeaderRows {
    private static let files = [
        "icc-rgb.jpg", "jpeg-orientation-6.jpg", "png-orientation-6.png", "gif-two.gif", "webp-turned.webp",
        "avif-alpha.avif",
        "heic-plain.heic", "jxl-lossy.jxl", "svg-rectangles.svg",
    ]

    static func row() throws -> Row {
        let count = 20_000
        let times = try files.map { file in
            let data = try Data(contentsOf: Pictures.samples.appendingPathComponent(file))
            var pixels = 0
            let rounds = (0..<5).map { _ in
                nanoseconds { for _ in 0..<count { pixels += ImageHeader(data)?.pixelWidth ?? 0 } } / Double(count)
            }
            guard pixels > 0 else { throw BenchmarkError("\(file) has no size") }
            return median(rounds) / 1e3
        }
        let slowest = times.indices.max { times[$0] < times[$1] } ?? 0
        return Row(
            "header dimensions, the slowest of eight formats (\(files[slowest]))", times[slowest], unit: "µs", atMost: 1
        )
    }
}
