import Measuring

/// Photographs of one to four megapixels, decoded at several sizes with the default filter. A round decodes all of them;
/// its value is the sum of their times.
enum DefaultFilterRow {
    private static let rounds = 5

    static func row(_ side: Int) throws -> Row {
        var (ours, pillows) = ([0.0], [0.0])  // `Comparison` leaves out the first round.
        let all = try Pictures.modest.map { try Pictures.contestants("default-\(side)", $0, [.pillow]) }
        for round in 0...rounds {
            for pair in all {
                for index in pair.indices { try pair[(index + round) % pair.count].decode() }
            }
        }
        for round in 1...rounds {
            ours.append(all.reduce(0) { $0 + $1[0].times[round] })
            pillows.append(all.reduce(0) { $0 + $1[1].times[round] })
        }
        return Row(
            "\(all.count) JPEGs of 1 to 4 MP → \(side) px, default filter", Comparison(ours, pillows),
            unit: .milliseconds, against: "Pillow draft", .atMost(1))
    }
}
