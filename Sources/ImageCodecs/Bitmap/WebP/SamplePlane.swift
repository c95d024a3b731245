#if !canImport(ImageIO)
    internal import CCodecs

    /// A plane of luma or chroma, which is made smaller row by row: each sample becomes the mean of the area that it covers.
    struct SamplePlane {
        /// Row after row without gaps; whoever makes the plane keeps them.
        let samples: UnsafeMutablePointer<UInt8>
        let size: PixelSize
        private let columns: ScalingKernel
        private let rows: ScalingKernel
        /// A row in the making, of the plane's width, and one that is done.
        private var sums: [Float]
        private(set) var row: [Float]

        /// - Parameter extent: How much of the size is picture, across and down; not whole where chroma covers more.
        init(
            _ samples: UnsafeMutablePointer<UInt8>, _ size: PixelSize, extent: (Double, Double),
            scaledTo result: PixelSize
        ) throws {
            self.samples = samples
            self.size = size
            columns = try Self.kernel(extent.0, size.width, result.width)
            rows = try Self.kernel(extent.1, size.height, result.height)
            sums = [Float](repeating: 0, count: size.width)
            row = [Float](repeating: 0, count: result.width)
        }

        private static func kernel(_ extent: Double, _ inputs: Int, _ outputs: Int) throws -> ScalingKernel {
            try .make(
                ScalingKernel.Recipe(filter: .area, extent: extent, inputs: inputs, outputs: outputs, isReduced: false))
        }

        /// The number of rows of the plane that it takes to make a row.
        func rowsNeeded(for output: Int) -> Int { rows.last(output) + 1 }

        /// Makes a row of the result, for which there must be samples enough.
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
#endif
