internal import CCodecs
import Foundation
import SynchronizerSupport

/// The weights for scaling a row or a column down. Each pixel of the result is a weighted sum of pixels of the larger one. Its
/// weights add up to 1.
struct ScalingKernel {
    /// The parameters of a kernel.
    struct Recipe: Hashable, Sendable {
        var filter: ImageSizing.Filter
        /// The extent of the picture, in input pixels. It may be a fraction if a decoder has scaled.
        var extent: Double
        var inputs: Int
        var outputs: Int
        /// Whether the inputs are means themselves, because the decoder has scaled.
        var isReduced: Bool
    }

    /// The latest kernels. The images of a list often have the same size.
    private static let recent = Locked([(recipe: Recipe, kernel: ScalingKernel)]())

    /// Returns a kernel, computed if necessary. Throws `CancellationError` if the load is cancelled: the rows of a hostile
    /// file can be very long.
    static func make(_ recipe: Recipe) throws -> ScalingKernel {
        if let known = recent.withLock({ $0.first { $0.recipe == recipe }?.kernel }) { return known }
        let made = try ScalingKernel(recipe)
        recent.withLock { recent in
            // Only a few small kernels are kept.
            if made.weights.count < 1 << 16 { recent = [(recipe, made)] + recent.prefix(7) }
        }
        return made
    }

    private static let weightsBetweenChecks = 1 << 16

    private(set) var spans: [scaling_span] = []
    private(set) var weights: [Float] = []

    var count: Int { spans.count }

    func last(_ output: Int) -> Int { spans[output].first + spans[output].count - 1 }

    func weight(_ output: Int, of input: Int) -> Float {
        weights[spans[output].offset + input - spans[output].first]
    }

    /// The largest number of outputs that one input contributes to.
    var overlap: Int {
        (0..<count).reduce(1) { most, output in
            var end = output
            while end + 1 < count, spans[end + 1].first <= last(output) { end += 1 }
            return max(most, end - output + 1)
        }
    }

    private init(_ recipe: Recipe) throws {
        let (filter, extent, inputs) = (recipe.filter, recipe.extent, recipe.inputs)
        let (outputs, isReduced) = (recipe.outputs, recipe.isReduced)
        let step = extent / Double(outputs)
        var nextCheck = Self.weightsBetweenChecks
        for output in 0..<outputs {
            if weights.count >= nextCheck {
                try ParseCancellation.check()
                nextCheck = weights.count + Self.weightsBetweenChecks
            }
            switch filter {
            case .area:
                appendArea(
                    from: Double(output) * step, to: min(Double(output + 1) * step, extent), inputs: inputs,
                    smooth: isReduced)
            case .lanczos:
                appendLanczos(
                    centre: (Double(output) + 0.5) * step, scale: max(step, 1), inputs: inputs, sharpen: isReduced)
            }
        }
    }

    private mutating func append(_ values: [Double], from first: Int) {
        let sum = values.reduce(0, +)
        spans.append(scaling_span(first: first, count: values.count, offset: weights.count))
        weights += values.map { Float($0 / sum) }
    }

    /// The mean from `start` to `end`: the difference of two integrals.
    ///
    /// Where inputs are means of smaller pixels, treating them as flat loses detail. The integral is known exactly at their
    /// borders. Interpolating it by the cubic through four borders gains 2 to 4 dB.
    private mutating func appendArea(from start: Double, to end: Double, inputs: Int, smooth: Bool) {
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
        append(values, from: low)
    }

    /// The integral from an input's border to a position inside it, in terms of that input and its neighbours.
    private static func parts(_ t: Double, smooth: Bool) -> [(Int, Double)] {
        guard smooth else { return [(0, t)] }
        let before = t * (t - 1) * (t - 2) / 6
        let after = (t + 1) * t * (t - 1) / 6
        return [(-1, before), (0, -(t + 1) * t * (t - 2) / 2 + after), (1, after)]
    }

    /// Three lobes of the windowed sinc, scaled with the reduction.
    ///
    /// Inputs that are means of smaller pixels have lost some detail. Subtracting a twenty-fourth of the second difference
    /// from the weights compensates for that to the second order of frequency, and gains 2 dB.
    private mutating func appendLanczos(centre: Double, scale: Double, inputs: Int, sharpen: Bool) {
        let reach = 3 * scale + (sharpen ? 1 : 0)
        // The centre of an input is half a pixel behind its index.
        let low = min(max(Int((centre - reach - 0.5).rounded(.up)), 0), inputs - 1)
        let high = max(low, min(Int(centre + reach - 0.5), inputs - 1))
        let flat = (low - 1...high + 1).map { Self.lanczos((Double($0) + 0.5 - centre) / scale) }
        let values = flat.indices.dropFirst().dropLast().map { index in
            flat[index] - (sharpen ? (flat[index - 1] - 2 * flat[index] + flat[index + 1]) / 24 : 0)
        }
        append(values, from: low)
    }

    private static func lanczos(_ x: Double) -> Double {
        guard abs(x) > 1e-9 else { return 1 }
        guard abs(x) < 3 else { return 0 }
        // The triple-angle formula saves a second sine.
        let sine = sin(.pi * x / 3)
        return 3 * (3 - 4 * sine * sine) * sine * sine / (.pi * .pi * x * x)
    }
}
