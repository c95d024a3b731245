#if !canImport(ImageIO)
    import Foundation
    import Synchronizer

    /// Between a decoder, which makes rows, and the picture: scales and turns what comes, a few rows at a time.
    final class PictureAssembler {
        /// How many rows a decoder is given to fill at a time: few enough to notice soon that nobody waits any more.
        static let stripHeight = 16

        private let decoded: PixelSize
        private let canvas: UprightCanvas
        private let scaler: Scaler?
        private let strip: PixelBuffer?
        private let scaledRow: PixelBuffer?
        /// The number of rows that have come.
        private(set) var row = 0

        /// - Parameters:
        ///   - decoded: The size of what the decoder makes.
        ///   - reduction: What share of the stored size a pixel of the decoder's stands for, where it scales by a whole
        ///     number and the last pixels are not full; nil if they are.
        ///   - startsCleared: Whether the picture is transparent where nothing has come yet, and not undefined.
        init(_ plan: DecodePlan, decoded: PixelSize, reduction: Double? = nil, startsCleared: Bool = false) throws {
            let isScaled = plan.output != decoded
            self.decoded = decoded
            canvas = try UprightCanvas(stored: plan.output, orientation: plan.orientation, cleared: startsCleared)
            strip = isScaled || plan.orientation != .up ? try Self.strip(decoded) : nil
            scaledRow = isScaled ? try PixelBuffer(PixelSize(width: plan.output.width, height: 1)) : nil
            func kernel(_ stored: Int, _ inputs: Int, _ outputs: Int) throws -> ScalingKernel {
                let extent = reduction.map { min(Double(stored) * $0, Double(inputs)) } ?? Double(inputs)
                return try .make(
                    ScalingKernel.Recipe(
                        filter: plan.filter, extent: extent, inputs: inputs, outputs: outputs,
                        isReduced: inputs < stored))
            }
            scaler =
                isScaled
                ? try Scaler(
                    columns: kernel(plan.stored.width, decoded.width, plan.output.width),
                    rows: kernel(plan.stored.height, decoded.height, plan.output.height), width: decoded.width)
                : nil
        }

        /// What making a picture takes at most beside it: the bytes that the decoder takes, a strip of rows, and for
        /// scaling a row of floats of what comes, eight rows of what comes out, and the weights, with what their
        /// arrays have to spare.
        static func workingBytes(_ plan: DecodePlan, beside decoder: Int) -> Int {
            let (stored, output) = (plan.stored, plan.output)
            let columns = (stripHeight * 4 + 16 + 64) * stored.width + (16 * 9 + 64) * output.width
            let rows = 64 * stored.height + 64 * output.height
            let (bytes, overflow) = decoder.addingReportingOverflow(columns + rows)
            return overflow ? .max : bytes
        }

        private static func strip(_ decoded: PixelSize) throws -> PixelBuffer {
            try PixelBuffer(PixelSize(width: decoded.width, height: min(stripHeight, decoded.height)))
        }

        var isComplete: Bool { row >= decoded.height }

        /// Lets `decode` write the next rows, `stride` bytes apart, as premultiplied BGRA; it says how many it wrote,
        /// of the number given. Throws `CancellationError` if nobody waits for the picture any more.
        func nextRows(_ decode: (UnsafeMutableRawPointer, _ stride: Int, _ count: Int) throws -> Int) throws {
            try ParseCancellation.check()
            let wanted = min(Self.stripHeight, decoded.height - row)
            let stride = decoded.width * 4
            if let strip {
                let count = min(try decode(strip.base, stride, wanted), wanted)
                take(UnsafeRawPointer(strip.base), stride, count)
                row += count
            } else {
                row += min(try decode(canvas.buffer.row(row), stride, wanted), wanted)
            }
        }

        private func take(_ rows: UnsafeRawPointer, _ stride: Int, _ count: Int) {
            guard let scaledRow else { return canvas.put(rows, stride: stride, first: row, count: count) }
            let result = scaledRow.base.assumingMemoryBound(to: UInt8.self)
            for index in 0..<count {
                let pixels = (rows + index * stride).assumingMemoryBound(to: UInt8.self)
                scaler?.add(pixels, result) { row in
                    canvas.put(UnsafeRawPointer(result), stride: scaledRow.bytesPerRow, first: row, count: 1)
                }
            }
        }

        /// Makes the picture of one that is there as a whole, premultiplied: of its stored size, with what is to be cropped,
        /// or smaller.
        /// - Parameter convert: Changes so many pixels before the picture is made smaller, or turned.
        static func assemble(
            _ plan: DecodePlan, _ whole: PixelBuffer, isOpaque: Bool,
            convert: (UnsafeMutableRawPointer, _ count: Int) -> Void = { _, _ in }
        ) throws -> BitmapImage {
            if whole.size == plan.output, plan.orientation == .up {
                return BitmapImage(whole, scale: plan.scale, isOpaque: isOpaque)
            }
            let area = plan.crop ?? PixelArea(x: 0, y: 0, size: whole.size)
            let picture = try PictureAssembler(plan, decoded: area.size)
            while !picture.isComplete {
                try picture.nextRows { rows, stride, count in
                    for row in 0..<count {
                        let source = whole.row(area.y + picture.row + row) + area.x * 4
                        (rows + row * stride).copyMemory(from: source, byteCount: stride)
                    }
                    convert(rows, count * area.size.width)
                    return count
                }
            }
            return picture.finish(scale: plan.scale, isOpaque: isOpaque)
        }

        /// The picture as it is so far; of one that started cleared.
        func snapshot(scale: CGFloat) throws -> BitmapImage {
            BitmapImage(try canvas.buffer.copy(), scale: scale, isOpaque: isComplete)
        }

        /// The picture, when all rows have come.
        func finish(scale: CGFloat, isOpaque: Bool) -> BitmapImage {
            BitmapImage(canvas.buffer, scale: scale, isOpaque: isOpaque)
        }
    }
#endif
