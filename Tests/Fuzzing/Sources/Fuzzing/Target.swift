import Foundation

@testable import ImageCodecs
@testable import ImageResource

/// What is fed: each codec, each reader of headers.
enum Target: String, CaseIterable, Sendable {
    case header, jpeg, coarse, png, webp, gif, animation, preview, profile
    /// What a server sends: heads, bodies in content codings, cookies and challenges.
    case head, codings, cookies, challenges
    /// These need the traits of their names.
    case avif, heic, jxl, svg

    nonisolated(unsafe) static var chosen = Target.header  // set before the only thread begins

    /// Small enough that a single input takes milliseconds, and that going beyond them is seen.
    static func setLimits() {
        ImageDecoding.maximumPixelCount = 200_000
        ImageDecoding.memoryBudget = 16 << 20
    }

    func run(_ bytes: UnsafeRawBufferPointer) {
        switch self {
        case .header: header(bytes)
        case .jpeg: decode(bytes, .jpeg)
        case .coarse: coarse(bytes)
        case .png: png(bytes)
        case .webp: decode(bytes, .webp)
        case .gif: decode(bytes, .gif)
        case .animation: animate(Data(bytes))
        case .preview: preview(Data(bytes))
        case .profile: profile(bytes)
        case .head: head(bytes)
        case .codings: codings(bytes)
        case .cookies: cookies(bytes)
        case .challenges: challenges(bytes)
        case .avif: decode(bytes, .avif)
        case .heic: decode(bytes, .heic)
        case .jxl: decode(bytes, .jpegXL)
        case .svg: decode(bytes, .svg)
        }
    }

    private func header(_ bytes: UnsafeRawBufferPointer) {
        let reader = ByteReader(bytes)
        _ = ImageHeader(reader)
        for read in [
            JPEGHeader.read, PNGHeader.read, GIFHeader.read, WebPHeader.read, HEIFHeader.read, JPEGXLHeader.read,
            SVGHeader.read,
        ] {
            _ = read(reader)
        }
        _ = JPEGHeader.profile(reader)
        _ = JPEGHeader.coefficientBytes(reader)
        _ = Exif.orientation(reader)
        _ = WebPHeader.profile(reader)
    }

    /// The first byte chooses the size to decode to.
    private func decode(_ bytes: UnsafeRawBufferPointer, _ format: ImageFormat) {
        guard let first = bytes.first else { return }
        let reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        let sizing =
            first == 0 ? ImageSizing.stored : .maxPixelSize(Int(first), filter: first % 2 == 0 ? .area : .lanczos)
        guard ImageFormat(reader) == format, let decoding = try? Decoding(reader, sizing: sizing) else { return }
        guard let image = try? decoding.picture() else { return }
        precondition(image.width * image.height <= ImageDecoding.maximumPixelCount)
    }

    /// As small as it takes for most of a JPEG to be passed over.
    private func coarse(_ bytes: UnsafeRawBufferPointer) {
        let reader = ByteReader(bytes)
        guard ImageFormat(reader) == .jpeg, let header = ImageHeader(reader) else { return }
        let side = max(1, max(header.pixelWidth, header.pixelHeight) / 14)
        for filter in [ImageSizing.Filter.area, .lanczos] {
            guard let decoding = try? Decoding(reader, sizing: .maxPixelSize(side, filter: filter)) else { return }
            _ = try? decoding.picture()
        }
    }

    /// Also with checksums that are wrong, as almost all are that a fuzzer makes.
    private func png(_ bytes: UnsafeRawBufferPointer) {
        decode(bytes, .png)
        let reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        guard ImageFormat(reader) == .png, let header = ImageHeader(reader) else { return }
        let size = PixelSize(width: header.pixelWidth, height: header.pixelHeight)
        guard size.area <= ImageDecoding.maximumPixelCount else { return }
        _ = try? PNGDecoder.picture(reader, size: size, colours: nil)
    }

    private func animate(_ data: Data) {
        guard let animation = try? AnimatedImage(data: data, sizing: .maxPixelSize(40)) else { return }
        for index in [1, 3, 2] { _ = try? animation.frame(at: index) }
        _ = animation.frameIndex(at: animation.duration * 1.5)
    }

    /// In two parts.
    private func preview(_ data: Data) {
        let previewer = ImagePreviewer(sizing: .maxPixelSize(60))
        _ = previewer.preview(of: data.prefix(data.count / 2))
        _ = previewer.preview(of: data)
    }

    private func profile(_ bytes: UnsafeRawBufferPointer) {
        for model in [ColorTransform.Model.rgb, .grey, .cmyk] {
            guard let transform = ColorTransform(ByteReader(bytes), model: model) else { continue }
            guard let picture = try? PixelBuffer(PixelSize(width: 3, height: 2), cleared: true) else { continue }
            if case .cmyk = model {
                transform.mix(picture.base, count: 6)
            } else {
                try? transform.apply(to: picture, isOpaque: false)
            }
        }
    }
}
