internal import CCodecs

/// Scales a picture down while its rows arrive. It holds a few rows, not the picture.
final class Scaler {
    /// Four values per pixel.
    private typealias Floats = UnsafeMutablePointer<Float>

    private let columns: ScalingKernel
    private let rows: ScalingKernel
    private let width: Int
    private let input: Floats
    private let across: Floats
    /// The incomplete rows of the result; a row is at its number modulo `ring`.
    private let sums: Floats
    private let ring: Int
    private var row = 0
    private var nextOutput = 0

    /// - Parameter width: The number of pixels in each input row.
    init(columns: ScalingKernel, rows: ScalingKernel, width: Int) {
        self.columns = columns
        self.rows = rows
        self.width = width
        ring = rows.overlap
        input = Self.zeros(width)
        across = Self.zeros(columns.count)
        sums = Self.zeros(columns.count * ring)
    }

    deinit {
        input.deallocate()
        across.deallocate()
        sums.deallocate()
    }

    private static func zeros(_ pixels: Int) -> Floats {
        let floats = Floats.allocate(capacity: pixels * 4)
        floats.initialize(repeating: 0, count: pixels * 4)
        return floats
    }

    /// Takes the next row. For each row of the result that it completes, calls `emit` with the row's number; the row is in
    /// `result`.
    func add(
        _ pixels: UnsafePointer<UInt8>, into result: UnsafeMutablePointer<UInt8>, emit: (_ row: Int) -> Void
    ) {
        defer { row += 1 }
        guard nextOutput < rows.count, rows.spans[nextOutput].first <= row else { return }
        scaling_across(pixels, width, input, columns.spans, columns.weights, columns.count, across)
        var output = nextOutput
        while output < rows.count, rows.spans[output].first <= row {
            let sum = sums + output % ring * columns.count * 4
            scaling_add(sum, across, rows.weight(output, of: row), columns.count)
            if rows.last(output) == row {
                scaling_finish(sum, result, columns.count)
                emit(output)
                nextOutput = output + 1
            }
            output += 1
        }
    }
}
