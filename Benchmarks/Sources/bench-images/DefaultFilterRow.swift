import Measuring

/// Photographs of one to four megapixels to several sizes, with the default filter: the sum of the medians over all files
/// of a size.
enum DefaultFilterRow {
    private static let rounds = 5

    static func row(_ side: Int) throws -> Row {
        var sums = (ours: 0.0, pillow: 0.0)
        for file in Pictures.modest {
            let all = try Pictures.contestants("default-\(side)", file, [.pillow])
            for round in 0...rounds {
                for index in all.indices { try all[(index + round) % all.count].decode() }
            }
            sums.ours += median(all[0].times)
            sums.pillow += median(all[1].times)
        }
        return Row(
            "\(Pictures.modest.count) JPEGs of 1 to 4 MP → \(side) px, default filter",
            Comparison([sums.ours], [sums.pillow]), unit: .milliseconds, against: "Pillow draft", .atMost(1))
    }
}
