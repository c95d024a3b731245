#if !canImport(ImageIO)
    /// Makes a picture smaller while its rows come in. It holds a few rows, and no picture.
    final class Scaler {
        typealias Sums = UnsafeMutableBufferPointer<SIMD4<Float>>

        private let columns: ScalingKernel
        private let rows: ScalingKernel
        private let input: Sums
        private let across: Sums
        /// Rows of the result that are not complete yet, number modulo `ring` after the other.
        private let sums: Sums
        private let ring: Int
        private var row = 0
        private var nextOutput = 0

        /// - Parameter width: The number of pixels in the rows that come.
        init(columns: ScalingKernel, rows: ScalingKernel, width: Int) {
            self.columns = columns
            self.rows = rows
            ring = rows.overlap
            input = .allocate(capacity: width)
            across = .allocate(capacity: columns.count)
            sums = .allocate(capacity: columns.count * ring)
            input.initialize(repeating: .zero)
            across.initialize(repeating: .zero)
            sums.initialize(repeating: .zero)
        }

        deinit {
            input.deallocate()
            across.deallocate()
            sums.deallocate()
        }

        /// Takes the next row in. For each row of the result that it completes, `emit` is called with its number, and
        /// the row in `result`.
        func add(
            _ pixels: UnsafePointer<SIMD4<UInt8>>, _ result: UnsafeMutablePointer<SIMD4<UInt8>>,
            emit: (_ row: Int) -> Void
        ) {
            guard nextOutput < rows.count, rows.first[nextOutput] <= row else {
                row += 1
                return
            }
            scaleAcross(pixels)
            var output = nextOutput
            while output < rows.count, rows.first[output] <= row {
                accumulate(output, weight: rows.weights[rows.offsets[output] + row - rows.first[output]])
                if rows.last(output) == row {
                    finish(output, result)
                    emit(output)
                    nextOutput = output + 1
                }
                output += 1
            }
            row += 1
        }

        private func scaleAcross(_ pixels: UnsafePointer<SIMD4<UInt8>>) {
            guard let input = input.baseAddress, let across = across.baseAddress else { return }
            for x in 0..<self.input.count { input[x] = SIMD4<Float>(pixels[x]) }
            columns.weights.withUnsafeBufferPointer { weights in
                for x in 0..<columns.count {
                    let first = input + columns.first[x] - columns.offsets[x]
                    var sum = SIMD4<Float>.zero
                    for index in columns.offsets[x]..<columns.offsets[x + 1] { sum += first[index] * weights[index] }
                    across[x] = sum
                }
            }
        }

        private func accumulate(_ output: Int, weight: Float) {
            guard let sums = sums.baseAddress, let across = across.baseAddress else { return }
            let sum = sums + output % ring * columns.count
            for x in 0..<columns.count { sum[x] += across[x] * weight }
        }

        private func finish(_ output: Int, _ result: UnsafeMutablePointer<SIMD4<UInt8>>) {
            guard let sums = sums.baseAddress else { return }
            let sum = sums + output % ring * columns.count
            for x in 0..<columns.count {
                // Weights below zero can take a colour beyond its alpha, and anything beyond its bounds.
                let rounded = (sum[x] + 0.5).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
                let limited = rounded.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: rounded.w))
                result[x] = SIMD4<UInt8>(truncatingIfNeeded: SIMD4<Int32>(limited))
                sum[x] = .zero
            }
        }
    }
#endif
