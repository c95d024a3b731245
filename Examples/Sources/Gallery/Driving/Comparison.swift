import Foundation
import GalleryModel

/// Several measurements as one Markdown table, with a row for each baseline and number of photographs.
@MainActor
struct Comparison {
    private let rows: [[Report.Document]]

    /// - Parameter files: files that `--json` has written. Several of the same kind are several runs.
    init(files: [String]) throws {
        let documents = try files.map {
            try JSONDecoder().decode(Report.Document.self, from: Data(contentsOf: URL(fileURLWithPath: $0)))
        }
        var names: [String] = []
        for document in documents where !names.contains(Self.name(document)) { names.append(Self.name(document)) }
        rows = names.map { name in documents.filter { Self.name($0) == name } }
    }

    func print() {
        Swift.print(Self.line(Self.columns.map(\.title)))
        Swift.print(Self.line(Self.columns.map { _ in "---" }))
        for runs in rows { Swift.print(Self.line(Self.columns.map { $0.value(runs) })) }
        for runs in rows {
            for run in runs where !run.memoryAfterPasses.isEmpty {
                let megabytes = run.memoryAfterPasses.map { "\($0 / 1_000_000)" }.joined(separator: ", ")
                Swift.print("\n\(Self.name(run)): MB after each pass: \(megabytes)")
            }
        }
        Swift.print("\nUntil a visible cell shows, in times of “\(Report.ownName)”: of the means, and of each round:")
        for own in rows where own.first?.baseline == Report.ownName { printRatios(to: own) }
    }

    /// The ratio of each baseline to the gallery with the same photographs, in the same rounds.
    private func printRatios(to own: [Report.Document]) {
        for runs in rows where runs.first?.baseline != Report.ownName {
            guard let run = runs.first, Self.photographs(run) == own.first.map(Self.photographs) else { continue }
            let pairs = zip(runs.map(\.meanWait), own.map(\.meanWait))
            let ratio = pairs.reduce(0) { $0 + $1.0 } / pairs.reduce(0) { $0 + $1.1 }
            let each = pairs.map { String(format: "%.2f", $0 / $1) }
            Swift.print("  \(Self.name(run)): \(String(format: "%.2f", ratio)) (\(each.joined(separator: ", ")))")
        }
    }

    private static func name(_ run: Report.Document) -> String { "\(run.baseline), \(photographs(run))" }

    /// Such as “600 of equal sizes at 16.0 MB/s”.
    private static func photographs(_ run: Report.Document) -> String {
        let speed = run.bandwidth == 0 ? "any speed" : Figures.words(bytes: run.bandwidth) + "/s"
        return "\(run.items) of \(run.sizes.rawValue) sizes at \(speed)"
    }

    @MainActor
    private struct Column {
        let title: String
        let value: @MainActor ([Report.Document]) -> String
    }

    private static let columns = [
        Column(title: "") { $0.first.map(name) ?? "" },
        Column(title: "late at 60") { late($0, "60 px") },
        Column(title: "late at 240") { late($0, "240 px") },
        Column(title: "painting ms, p50 / p95 / p99 at 60") { runs in
            let phases = runs.compactMap { phase($0, "60 px") }
            return [\Report.Phase.paintingP50, \.paintingP95, \.paintingP99].map { path in
                String(format: "%.1f", median(phases.map { $0[keyPath: path] }))
            }.joined(separator: " / ")
        },
        Column(title: "ms until a visible cell shows") { each($0) { String(format: "%.0f", $0.meanWait) } },
        Column(title: "cells in the mean / cells that left without an image") { runs in
            each(runs) { run in
                let (waited, left) = run.phases.reduce((0, 0)) { ($0.0 + $1.waited, $0.1 + $1.leftWithout) }
                return "\(waited) / \(left)"
            }
        },
        Column(title: "cells that got their image while visible, at 60") {
            each($0) { "\(phase($0, "60 px")?.waited ?? 0)" }
        },
        Column(title: "ms until a detail shows") { each($0) { String(format: "%.0f", $0.detailMilliseconds) } },
        Column(title: "loads started / cancelled") { each($0) { "\($0.started) / \($0.cancelled)" } },
        Column(title: "MB received / wasted") { runs in
            each(runs) { "\($0.networkBytes / 1_000_000) / \($0.wastedBytes / 1_000_000)" }
        },
        Column(title: "peak MB") { each($0) { "\($0.peakMemory / 1_000_000)" } },
    ]

    private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

    private static func each(_ runs: [Report.Document], _ value: (Report.Document) -> String) -> String {
        runs.map(value).joined(separator: ", ")
    }

    private static func phase(_ run: Report.Document, _ name: String) -> Report.Phase? {
        run.phases.first { $0.name == name }
    }

    /// Such as “0, 2 of 449”.
    private static func late(_ runs: [Report.Document], _ name: String) -> String {
        let phases = runs.compactMap { phase($0, name) }
        guard let frames = phases.last?.frames else { return "" }
        return phases.map { "\($0.late)" }.joined(separator: ", ") + " of \(frames)"
    }

    /// The median; the lower one of an even number of values.
    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[(values.count - 1) / 2]
    }
}
