#if !canImport(ImageIO)
    import Foundation

    /// What each pixel of a smaller row, or column, takes from which pixels of the larger: weights that sum up to 1.
    struct ScalingKernel {
        private(set) var first: [Int] = []
        /// Where the weights of an output begin in `weights`; one more than there are outputs.
        private(set) var offsets: [Int] = [0]
        private(set) var weights: [Float] = []

        var count: Int { first.count }

        func last(_ output: Int) -> Int { first[output] + offsets[output + 1] - offsets[output] - 1 }

        /// The largest number of outputs that a single input goes into.
        var overlap: Int {
            (0..<count).reduce(1) { most, output in
                var end = output
                while end + 1 < count, first[end + 1] <= last(output) { end += 1 }
                return max(most, end - output + 1)
            }
        }

        /// - Parameters:
        ///   - extent: How much of the inputs is picture, in inputs; not whole where a decoder has scaled.
        ///   - isReduced: Whether the inputs are themselves means, because the decoder has scaled.
        init(_ filter: ImageSizing.Filter, extent: Double, inputs: Int, outputs: Int, isReduced: Bool) {
            let step = extent / Double(outputs)
            for output in 0..<outputs {
                switch filter {
                case .area:
                    appendArea(Double(output) * step, min(Double(output + 1) * step, extent), inputs, smooth: isReduced)
                case .lanczos: appendLanczos((Double(output) + 0.5) * step, max(step, 1), inputs)
                }
            }
        }

        private mutating func append(from first: Int, _ values: [Double]) {
            let sum = values.reduce(0, +)
            self.first.append(first)
            weights += values.map { Float($0 / sum) }
            offsets.append(weights.count)
        }

        /// The mean from `start` to `end`: the difference of two integrals.
        ///
        /// Where inputs are means of smaller pixels, taking them as flat loses what went on inside of them. The integral
        /// is known exactly at their borders, so that it is interpolated in between by the cubic through four of them:
        /// that brings 2 to 4 dB.
        private mutating func appendArea(_ start: Double, _ end: Double, _ inputs: Int, smooth: Bool) {
            let margin = smooth ? 1 : 0
            let low = min(max(Int(start) - margin, 0), inputs - 1)
            let high = max(low, min(Int(end.rounded(.up)) - 1 + margin, inputs - 1))
            var values = [Double](repeating: 0, count: high - low + 1)
            for (position, sign) in [(end, 1.0), (start, -1.0)] {
                let whole = min(Int(position), inputs - 1)
                for index in low..<max(low, whole) { values[index - low] += sign }
                for (index, part) in Self.parts(position - Double(whole), smooth: smooth) {
                    values[min(max(whole + index, low), high) - low] += sign * part
                }
            }
            append(from: low, values)
        }

        /// The integral from an input's border to a part of it, in terms of that input and its neighbours.
        private static func parts(_ t: Double, smooth: Bool) -> [(Int, Double)] {
            guard smooth else { return [(0, t)] }
            let before = t * (t - 1) * (t - 2) / 6
            let after = (t + 1) * t * (t - 1) / 6
            return [(-1, before), (0, -(t + 1) * t * (t - 2) / 2 + after), (1, after)]
        }

        /// Three lobes of the windowed sinc, as wide as the reduction.
        private mutating func appendLanczos(_ centre: Double, _ scale: Double, _ inputs: Int) {
            let low = min(max(Int((centre - 3 * scale).rounded(.up)), 0), inputs - 1)
            let high = max(low, min(Int(centre + 3 * scale), inputs - 1))
            append(from: low, (low...high).map { Self.lanczos((Double($0) + 0.5 - centre) / scale) })
        }

        private static func lanczos(_ x: Double) -> Double {
            guard abs(x) > 1e-9 else { return 1 }
            guard abs(x) < 3 else { return 0 }
            return 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
        }
    }
#endif
