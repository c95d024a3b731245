internal import CCodecs
internal import CWebP
import Foundation

/// Decodes small pictures of lossy WebP without alpha. It decodes luma and chroma at their stored size and scales them down
/// before it converts them to colours, which takes less time than libwebp's scaling.
final class WebPPlanes {
    private let stored: PixelSize
    /// The size to which the planes are scaled.
    let size: PixelSize
    private let memory: UnsafeMutableRawPointer
    private let stream: WebPStream
    private var luma, blue, red: SamplePlane
    /// The number of rows made so far.
    private(set) var made = 0

    init(_ stored: PixelSize, scaledTo size: PixelSize) throws {
        guard let memory = PictureMemory.allocate(Self.bytes(stored), cleared: false) else {
            throw ImageError.outOfMemory
        }
        let samples = memory.assumingMemoryBound(to: UInt8.self)
        let half = Self.halved(stored)
        func plane(_ offset: Int, inputs: PixelSize, share: Double) throws -> SamplePlane {
            let extent = (Double(stored.width) * share, Double(stored.height) * share)
            return try SamplePlane(samples + offset, size: inputs, extent: extent, scaledTo: size)
        }
        do {
            let luma = try plane(0, inputs: stored, share: 1)
            let blue = try plane(stored.area, inputs: half, share: 0.5)
            let red = try plane(stored.area + half.area, inputs: half, share: 0.5)
            stream = try WebPStream { Self.configure(&$0, luma: luma, blue: blue, red: red) }
            (self.luma, self.blue, self.red) = (luma, blue, red)
        } catch {
            PictureMemory.free(memory, count: Self.bytes(stored))
            throw error
        }
        (self.stored, self.size, self.memory) = (stored, size, memory)
    }

    private static func configure(
        _ config: inout WebPDecoderConfig, luma: SamplePlane, blue: SamplePlane, red: SamplePlane
    ) {
        // Smoothing the borders of blocks hardly changes the means. libwebp omits it too when it scales.
        config.options.bypass_filtering = 1
        config.output.colorspace = MODE_YUV
        config.output.u.YUVA.y = luma.samples
        config.output.u.YUVA.u = blue.samples
        config.output.u.YUVA.v = red.samples
        config.output.u.YUVA.y_stride = Int32(clamping: luma.size.width)
        config.output.u.YUVA.u_stride = Int32(clamping: blue.size.width)
        config.output.u.YUVA.v_stride = Int32(clamping: red.size.width)
        config.output.u.YUVA.y_size = luma.size.area
        config.output.u.YUVA.u_size = blue.size.area
        config.output.u.YUVA.v_size = red.size.area
    }

    deinit {
        PictureMemory.free(memory, count: Self.bytes(stored))
    }

    /// Returns nil if `WebPDecoder` must decode the picture.
    static func decode(_ bytes: ByteReader, plan: DecodePlan, colours: ColorTransform?) throws -> BitmapImage? {
        guard suffices(bytes, plan: plan) else { return nil }
        let planes = try WebPPlanes(plan.stored, scaledTo: WebPDecoder.intermediateSize(bytes, plan: plan))
        let picture = try PictureAssembler(plan, decoded: planes.size)
        try planes.decode(bytes, into: picture, colours: colours)
        while try planes.stream.step(bytes, pixels: plan.stored.area, owner: planes) {}
        guard picture.isComplete, planes.stream.isComplete else { throw WebPDecoder.truncated }
        return picture.finish(scale: plan.scale, isOpaque: true)
    }

    /// Decodes the available data, given all bytes so far, and adds rows to a picture of the size ``size``.
    func decode(_ bytes: ByteReader, into picture: PictureAssembler, colours: ColorTransform?) throws {
        while !picture.isComplete {
            guard isReady(made) else {
                guard try stream.step(bytes, pixels: stored.area, owner: self) else { return }
                continue
            }
            try picture.nextRows { rows, stride, capacity in
                var count = 0
                while count < capacity, isReady(made) {
                    makeRow((rows + count * stride).assumingMemoryBound(to: UInt8.self))
                    count += 1
                }
                colours?.convert(rows, count: count * size.width)
                return count
            }
        }
    }

    /// Whether the luma and chroma of a row have been decoded. A row of chroma covers two rows of luma.
    private func isReady(_ row: Int) -> Bool {
        row < size.height && luma.rowsNeeded(for: row) <= stream.rowsDone
            && blue.rowsNeeded(for: row) <= (stream.rowsDone + 1) / 2
    }

    private func makeRow(_ pixels: UnsafeMutablePointer<UInt8>) {
        luma.make(made)
        blue.make(made)
        red.make(made)
        planes_mix(luma.row, blue.row, red.row, pixels, size.width)
        made += 1
    }
}

extension WebPPlanes {
    /// Whether the picture is lossy without alpha, and becomes much smaller.
    static func suffices(_ bytes: ByteReader, plan: DecodePlan) -> Bool {
        WebPDecoder.intermediateSize(bytes, plan: plan) != plan.stored && !WebPHeader.isAnimated(bytes)
            && !WebPHeader.hasAlpha(bytes) && !WebPHeader.isLossless(bytes)
    }

    /// The bytes of the planes.
    static func bytes(_ stored: PixelSize) -> Int { stored.area + 2 * halved(stored).area }

    private static func halved(_ size: PixelSize) -> PixelSize {
        PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
    }
}
