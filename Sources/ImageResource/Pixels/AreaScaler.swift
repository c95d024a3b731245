#if !canImport(ImageIO)
    /// Makes a picture smaller while its rows come in: each pixel of the result is the mean of the area that it covers,
    /// with the parts of the pixels at its edges counted as such. It holds two rows and no picture.
    final class AreaScaler {
        /// The width of the rows that come, and how much of them is picture: the last column and the last row of what a
        /// decoder has scaled may be there in part.
        private let columns: [Span]
        private let rowsPerOutput: Double
        private let extentHeight: Double
        private let output: PixelSize
        private let sums: UnsafeMutableBufferPointer<SIMD4<Float>>
        private var row: Double = 0
        private var outputRow = 0
        private var weight: Float = 0

        private static let largest = SIMD4<Float>(repeating: 255)

        /// The part of a row that goes into one pixel: whole pixels, and parts of those at both ends.
        private struct Span {
            var first: Int
            var last: Int
            var firstWeight: Float
            var lastWeight: Float
            var factor: Float
        }

        /// - Parameters:
        ///   - extent: The size of what comes, in its own pixels; not always whole.
        ///   - width: The number of pixels in the rows that come.
        init(extent: (width: Double, height: Double), width: Int, output: PixelSize) {
            self.output = output
            extentHeight = extent.height
            rowsPerOutput = extent.height / Double(output.height)
            columns = Self.spans(extent.width, width, output.width)
            sums = .allocate(capacity: width)
            sums.initialize(repeating: .zero)
        }

        deinit {
            sums.deallocate()
        }

        private static func spans(_ extent: Double, _ count: Int, _ outputs: Int) -> [Span] {
            let step = extent / Double(outputs)
            return (0..<outputs).map { output in
                let (start, end) = (Double(output) * step, Double(output + 1) * step)
                let first = min(Int(start), count - 1)
                let last = min(max(Int(end.rounded(.up)) - 1, first), count - 1)
                let firstWeight = first == last ? 1 : Float(Double(first + 1) - start)
                let lastWeight = first == last ? 0 : Float(min(end, Double(count)) - Double(last))
                let total = first == last ? 1 : firstWeight + lastWeight + Float(last - first - 1)
                return Span(
                    first: first, last: last, firstWeight: firstWeight, lastWeight: lastWeight, factor: 1 / total)
            }
        }

        /// Takes the next row in. When that completes a row of the result it is in `result`, and `emit` is called with
        /// its number; the result has no more rows than came in, so that this can happen once a row.
        func add(
            _ pixels: UnsafePointer<SIMD4<UInt8>>, _ result: UnsafeMutablePointer<SIMD4<UInt8>>,
            emit: (_ row: Int) -> Void
        ) {
            let end = min(row + 1, extentHeight)
            var start = row
            while outputRow < output.height {
                let outputEnd = outputRow + 1 == output.height ? extentHeight : Double(outputRow + 1) * rowsPerOutput
                let part = min(end, outputEnd) - start
                if part > 0 { accumulate(pixels, Float(part)) }
                guard outputEnd <= end else { break }
                finishRow(result)
                emit(outputRow)
                outputRow += 1
                start = outputEnd
            }
            row += 1
        }

        private func accumulate(_ pixels: UnsafePointer<SIMD4<UInt8>>, _ part: Float) {
            weight += part
            guard let sums = sums.baseAddress else { return }
            for x in 0..<self.sums.count {
                sums[x] += SIMD4<Float>(pixels[x]) * part
            }
        }

        private func finishRow(_ into: UnsafeMutablePointer<SIMD4<UInt8>>) {
            guard let sums = sums.baseAddress else { return }
            let byWeight = weight > 0 ? 1 / weight : 0
            for x in columns.indices {
                let span = columns[x]
                var sum = sums[span.first] * span.firstWeight + sums[span.last] * span.lastWeight
                var column = span.first + 1
                while column < span.last {
                    sum += sums[column]
                    column += 1
                }
                // A mean of bytes: rounded it is a byte again, but for the last bits of the weights.
                let mean = (sum * (span.factor * byWeight) + 0.5).clamped(lowerBound: .zero, upperBound: Self.largest)
                into[x] = SIMD4<UInt8>(truncatingIfNeeded: SIMD4<Int32>(mean))
            }
            sums.update(repeating: .zero, count: self.sums.count)
            weight = 0
        }
    }
#endif
