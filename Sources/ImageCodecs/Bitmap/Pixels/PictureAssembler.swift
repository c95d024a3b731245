import Foundation
import SynchronizerSupport

/// Takes rows from a decoder, scales and rotates them, and puts them into the picture, a few rows at a time.
final class PictureAssembler {
    /// The number of rows that a decoder fills at a time: few enough to notice a cancelled load soon.
    static let stripHeight = 16

    private let decoded: PixelSize
    private let canvas: UprightCanvas
    private let scaler: Scaler?
    private let strip: PixelBuffer?
    private let scaledRow: PixelBuffer?
    /// The number of rows taken so far.
    private(set) var row = 0

    /// - Parameters:
    ///   - decoded: The size that the decoder delivers.
    ///   - reduction: The scale of a decoder that rounds its size up, so that its last row and column may be partly outside of
    ///     the picture; nil for other decoders.
    ///   - startsCleared: Whether missing rows are transparent instead of undefined.
    init(_ plan: DecodePlan, decoded: PixelSize, reduction: Double? = nil, startsCleared: Bool = false) throws {
        let isScaled = plan.output != decoded
        self.decoded = decoded
        canvas = try UprightCanvas(stored: plan.output, orientation: plan.orientation, cleared: startsCleared)
        strip = isScaled || plan.orientation != .up ? try Self.strip(decoded) : nil
        scaledRow = isScaled ? try PixelBuffer(PixelSize(width: plan.output.width, height: 1)) : nil
        func kernel(_ stored: Int, inputs: Int, outputs: Int) throws -> ScalingKernel {
            let extent = reduction.map { min(Double(stored) * $0, Double(inputs)) } ?? Double(inputs)
            return try .make(
                ScalingKernel.Recipe(
                    filter: plan.filter, extent: extent, inputs: inputs, outputs: outputs,
                    isReduced: inputs < stored))
        }
        scaler =
            isScaled
            ? try Scaler(
                columns: kernel(plan.stored.width, inputs: decoded.width, outputs: plan.output.width),
                rows: kernel(plan.stored.height, inputs: decoded.height, outputs: plan.output.height),
                width: decoded.width)
            : nil
    }

    /// The most memory that making a picture takes in addition to the picture: the decoder's bytes and a strip of rows. Scaling
    /// takes floats for a row of the input and nine rows of the output, and the weights with the spare capacity of their arrays.
    static func workingBytes(_ plan: DecodePlan, beside decoder: Int) -> Int {
        let (stored, output) = (plan.stored, plan.output)
        let strip = stripHeight * 4 * stored.width
        let columns = (16 + 64) * stored.width + (16 * 9 + 64) * output.width
        let rows = 64 * stored.height + 64 * output.height
        let (bytes, overflow) = decoder.addingReportingOverflow(strip + (output == stored ? 0 : columns + rows))
        return overflow ? .max : bytes
    }

    private static func strip(_ decoded: PixelSize) throws -> PixelBuffer {
        try PixelBuffer(PixelSize(width: decoded.width, height: min(stripHeight, decoded.height)))
    }

    var isComplete: Bool { row >= decoded.height }

    /// Calls `decode` to write the next `count` rows, `stride` bytes apart, as premultiplied BGRA. `decode` may write fewer, and
    /// returns their number. Throws `CancellationError` if the load is cancelled.
    func nextRows(_ decode: (UnsafeMutableRawPointer, _ stride: Int, _ count: Int) throws -> Int) throws {
        try ParseCancellation.check()
        let wanted = min(Self.stripHeight, decoded.height - row)
        let stride = decoded.width * 4
        if let strip {
            let count = min(try decode(strip.base, stride, wanted), wanted)
            take(UnsafeRawPointer(strip.base), stride: stride, count: count)
            row += count
        } else {
            row += min(try decode(canvas.buffer.row(row), stride, wanted), wanted)
        }
    }

    private func take(_ rows: UnsafeRawPointer, stride: Int, count: Int) {
        guard let scaledRow else { return canvas.put(rows, stride: stride, first: row, count: count) }
        let result = scaledRow.base.assumingMemoryBound(to: UInt8.self)
        for index in 0..<count {
            let pixels = (rows + index * stride).assumingMemoryBound(to: UInt8.self)
            scaler?.add(pixels, into: result) { row in
                canvas.put(UnsafeRawPointer(result), stride: scaledRow.bytesPerRow, first: row, count: 1)
            }
        }
    }

    /// Makes the picture from a complete premultiplied one, which is not cropped yet. The decoder may have scaled it down.
    /// - Parameter convert: Changes `count` pixels before they are scaled and rotated.
    static func assemble(
        _ plan: DecodePlan, whole: PixelBuffer, isOpaque: Bool,
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

    /// A copy of the picture so far. The assembler must have been created with `startsCleared`.
    func snapshot(scale: CGFloat) throws -> BitmapImage {
        BitmapImage(try canvas.buffer.copy(), scale: scale, isOpaque: isComplete)
    }

    /// The picture, once all rows have been taken.
    func finish(scale: CGFloat, isOpaque: Bool) -> BitmapImage {
        BitmapImage(canvas.buffer, scale: scale, isOpaque: isOpaque)
    }
}
