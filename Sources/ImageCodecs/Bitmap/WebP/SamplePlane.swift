internal import CCodecs

/// A plane of luma or chroma that is scaled down row by row: each sample becomes the mean of the area that it covers.
struct SamplePlane {
    /// Rows without gaps, owned by the creator of the plane.
    let samples: UnsafeMutablePointer<UInt8>
    let size: PixelSize
    private let columns: ScalingKernel
    private let rows: ScalingKernel
    /// A row of sums as wide as the plane, and a finished row.
    private var sums: [Float]
    private(set) var row: [Float]

    /// - Parameter extent: The extent of the picture in samples, across and down. It may be a fraction for chroma, whose last
    ///   samples may be partly outside of the picture.
    init(
        _ samples: UnsafeMutablePointer<UInt8>, size: PixelSize, extent: (Double, Double),
        scaledTo result: PixelSize
    ) throws {
        self.samples = samples
        self.size = size
        columns = try Self.kernel(extent.0, inputs: size.width, outputs: result.width)
        rows = try Self.kernel(extent.1, inputs: size.height, outputs: result.height)
        sums = [Float](repeating: 0, count: size.width)
        row = [Float](repeating: 0, count: result.width)
    }

    private static func kernel(_ extent: Double, inputs: Int, outputs: Int) throws -> ScalingKernel {
        try .make(
            ScalingKernel.Recipe(filter: .area, extent: extent, inputs: inputs, outputs: outputs, isReduced: false))
    }

    /// The number of rows of the plane that a row of the result requires.
    func rowsNeeded(for output: Int) -> Int { rows.last(output) + 1 }

    /// Makes a row of the result. The plane must have the required rows.
    mutating func make(_ output: Int) {
        let span = rows.spans[output]
        rows.weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            planes_down(
                samples + span.first * size.width, size.width, weights + span.offset, span.count, &sums)
        }
        planes_across(sums, columns.spans, columns.weights, columns.count, &row)
    }
}
