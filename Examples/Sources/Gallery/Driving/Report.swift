import Foundation
import GalleryModel

/// The result of a measurement, as a table and as JSON.
@MainActor
struct Report {
    struct Phase: Codable {
        let name: String
        let frames: Int
        let late: Int
        /// Milliseconds.
        let paintingP50, paintingP95, paintingP99: Double
        /// Cells that had their pictures when they became visible.
        let atOnce: Int
        /// Cells that got their pictures while they were visible, and their mean wait in milliseconds.
        let waited: Int
        let meanWait: Double
        /// Cells that became invisible without their pictures.
        let leftWithout: Int
    }

    /// The JSON that ``Comparison`` reads.
    struct Document: Codable {
        let baseline: String
        let sizes: Options.Sizes
        let items, bandwidth: Int
        let firstScreenMilliseconds, detailMilliseconds: Double
        /// From the first frame to a full screen, when the gallery is opened again: with derived objects, and without.
        let relaunchMilliseconds, relaunchDecodingMilliseconds: Double
        let phases: [Phase]
        let meanWait: Double
        let started, cancelled, networkBytes, wastedBytes, peakMemory: Int
        let memoryAfterPasses: [Int]
    }

    /// The name of a run without a baseline.
    static let ownName = "as it is"

    private let options: Options
    var firstScreen = 0.0
    var details = 0.0
    var memoryAfterPasses: [Int] = []
    private var phases: [Phase] = []
    private var relaunches: (derived: [Double], decoded: [Double]) = ([], [])
    private var figures = Figures()

    init(_ options: Options) {
        self.options = options
    }

    private var name: String { options.baseline?.rawValue ?? Self.ownName }

    func print() {
        let limit = options.bandwidth == 0 ? "no limit" : "\(Figures.words(bytes: options.bandwidth)) a second"
        Swift.print("\(name), \(options.items) photographs of \(options.sizes.rawValue) sizes, \(limit)")
        Swift.print("           frames  late    painting ms p50   p95   p99   at once  waited  mean ms  left without")
    }

    mutating func add(_ name: String, _ frames: FrameStatistics, _ waits: VisibilityLog.Waits) {
        let phase = Phase(
            name: name, frames: frames.count, late: frames.late, paintingP50: frames.painting(percentile: 0.5),
            paintingP95: frames.painting(percentile: 0.95), paintingP99: frames.painting(percentile: 0.99),
            atOnce: waits.atOnce, waited: waits.milliseconds.count, meanWait: waits.mean,
            leftWithout: waits.leftWithout)
        phases.append(phase)
        Swift.print(
            name.padding(toLength: 10, withPad: " ", startingAt: 0)
                + String(
                    format: "%7d %5d %19.1f %5.1f %5.1f %9d %7d %8.0f %13d", phase.frames, phase.late,
                    phase.paintingP50, phase.paintingP95, phase.paintingP99, phase.atOnce, phase.waited,
                    phase.meanWait, phase.leftWithout))
    }

    /// Adds the time from the first frame to a full screen. The first of each kind warms up.
    mutating func addRelaunch(_ milliseconds: Double, derives: Bool) {
        if derives { relaunches.derived.append(milliseconds) } else { relaunches.decoded.append(milliseconds) }
    }

    private static func median(_ rounds: [Double]) -> Double {
        let sorted = rounds.dropFirst().sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// The mean wait of all cells that got their pictures, in milliseconds.
    private var meanWait: Double {
        let waited = phases.reduce(0) { $0 + $1.waited }
        return waited == 0 ? 0 : phases.reduce(0) { $0 + $1.meanWait * Double($1.waited) } / Double(waited)
    }

    mutating func finish(_ figures: Figures, feedOf count: Int) {
        self.figures = figures
        Swift.print(
            String(
                format: "first screen %.0f ms, a detail %.0f ms, until a visible cell shows %.0f ms on average",
                firstScreen, details, meanWait))
        let (derived, decoded) = (Self.median(relaunches.derived), Self.median(relaunches.decoded))
        let words = "relaunch: %.0f ms from the first frame to a full screen, %.0f ms without derived objects (%.2f×)"
        Swift.print(String(format: words, derived, decoded, derived / decoded))
        Swift.print(
            "loads: \(figures.started) started, \(figures.cancelled) cancelled; "
                + "\(Figures.words(bytes: figures.networkBytes)) received, "
                + "\(Figures.words(bytes: figures.wastedBytes)) of it wasted; peak memory "
                + Figures.words(bytes: Memory.peak))
        guard !memoryAfterPasses.isEmpty else { return }
        Swift.print("memory after each pass: " + memoryAfterPasses.map(Figures.words(bytes:)).joined(separator: ", "))
    }

    func write(to file: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let document = Document(
            baseline: name, sizes: options.sizes, items: options.items, bandwidth: options.bandwidth,
            firstScreenMilliseconds: firstScreen, detailMilliseconds: details,
            relaunchMilliseconds: Self.median(relaunches.derived),
            relaunchDecodingMilliseconds: Self.median(relaunches.decoded), phases: phases, meanWait: meanWait,
            started: figures.started, cancelled: figures.cancelled, networkBytes: figures.networkBytes,
            wastedBytes: figures.wastedBytes, peakMemory: Memory.peak, memoryAfterPasses: memoryAfterPasses)
        try encoder.encode(document).write(to: URL(fileURLWithPath: file))
    }
}
