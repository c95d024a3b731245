#if !canImport(ImageIO)
    import Foundation
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// A file of `Samples`, and what other decoders make of it; see `make_samples.py` there.
    struct Sample: Decodable, Sendable, CustomTestStringConvertible {
        let file: String
        let expected: String
        let width: Int
        let height: Int
        /// How near the picture has to be; nil if every byte has to be the same.
        let decibels: Double?
        let maxPixelSize: Int?
        let orientation: Int?
        let opaque: Bool?

        var testDescription: String { maxPixelSize.map { "\(file) at \($0)" } ?? file }

        static let all: [Sample] = {
            let list = try? JSONDecoder().decode([Sample].self, from: Samples.data("samples.json"))
            return list ?? []
        }()

        /// One of each file.
        static let files = Array(Dictionary(grouping: all, by: \.file).values.compactMap(\.first)).sorted {
            $0.file < $1.file
        }

        var sizing: ImageSizing { maxPixelSize.map { .maxPixelSize($0) } ?? .stored }

        var format: ImageFormat? { ImageFormat.named(byExtension: file) }

        func data() throws -> Data { try Samples.data(file) }

        func picture() throws -> BitmapImage {
            let pixels = try Samples.data(expected)
            let image = BitmapImage(width: width, height: height, isOpaque: opaque ?? false) { buffer in
                pixels.copyBytes(to: buffer)
            }
            return try #require(image)
        }
    }

    enum Samples {
        static func data(_ name: String) throws -> Data {
            let folder = try #require(Bundle.module.url(forResource: "Samples", withExtension: nil))
            return try Data(contentsOf: folder.appendingPathComponent(name))
        }
    }
#endif
