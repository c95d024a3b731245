import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The load machine, walked at random", .bounded)
struct LoadMachineWalks {
    typealias Machine = LoadMachineHarness.Machine

    /// All walks together: a share of what `Scripts/test --walks` asks for.
    static let count = ProcessInfo.processInfo.environment["SYNCHRONIZER_WALKS"].flatMap(Int.init) ?? 2_000

    static let limits = [
        Machine.Limits(lookups: 1, network: .init(total: 1, perHost: 1), parses: 1),
        Machine.Limits(lookups: 2, network: .init(total: 3, perHost: 2), parses: 2),
        Machine.Limits(lookups: 3, network: .init(total: 6, perHost: 2), parses: 1),
        Machine.Limits(lookups: 9, network: .init(total: 12, perHost: 12), parses: 9),
    ]

    @Test("random walks keep every invariant and leave nothing", arguments: [false, true], [false, true])
    func randomWalks(newestFirst: Bool, hasGrace: Bool) {
        for number in 0..<Self.count / 4 {
            let seed = number * 4 + (newestFirst ? 2 : 0) + (hasGrace ? 1 : 0)
            var generator = SeededGenerator(seed: UInt64(seed))
            let limits = Self.limits[number % Self.limits.count]
            var harness = LoadMachineHarness(limits: limits, newestFirst: newestFirst, hasGrace: hasGrace)
            for _ in 0..<Int.random(in: 10...50, using: &generator) { harness.randomEvent(&generator) }
            harness.drain()
            guard harness.violations.isEmpty else {
                Issue.record("seed \(seed): \(harness.violations[0])")
                return
            }
        }
    }
}

extension LoadMachineHarness {
    /// One event that may happen now.
    mutating func randomEvent(_ generator: inout SeededGenerator) {
        switch Int.random(in: 0..<24, using: &generator) {
        case 0...3:
            let request = Int.random(in: 0..<9, using: &generator)
            subscribe(
                request == 8 ? nil : request, parse: Bool.random(using: &generator) ? "" : "small",
                host: ["a", "b", "c"][request % 3], randomPriority(&generator))
        case 4, 5:
            if let id = live.keys.randomElement(using: &generator) { unsubscribe(id) }
        case 6:
            if let id = live.keys.randomElement(using: &generator) { setPriority(randomPriority(&generator), of: id) }
        case 7, 8:
            if let id = randomDownload(.lookingUp, &generator) { needsNetwork(id) }
        case 9:
            let stage = Bool.random(using: &generator) ? Stage.lookingUp : .loading
            if let id = randomDownload(stage, &generator) { fetchEnded(id, succeeded: Bool.random(using: &generator)) }
        case 10:
            let stage = Bool.random(using: &generator) ? Stage.lookingUp : .loading
            if let id = randomDownload(stage, &generator) { backOff(id) }
        case 11:
            if let id = randomDownload(.backingOff, &generator) { backOffEnded(id) }
        case 12:
            pauseEnded()
        case 14:
            if let id = downloads.filter({ $0.value.stage != .arrived }).randomElement(using: &generator)?.key {
                fail(id)
            }
        case 13:
            if let id = runningParses.randomElement(using: &generator) { parseEnded(id) }
        case 16:
            if let id = downloads.keys.randomElement(using: &generator) { closeToOthers(id) }
        case 17, 18:
            if let id = parses.keys.randomElement(using: &generator) { expectStored(id) }
        case 19:
            if let id = parses.filter({ $0.value.stored == .beingRead }).randomElement(using: &generator)?.key {
                if Int.random(in: 0..<4, using: &generator) == 0 { storedEnded(id) } else { storedIsRead(id) }
            }
        case 20:
            if let id = runningStored.randomElement(using: &generator) { storedEnded(id) }
        case 21, 22:
            // One whose preview is in flight asks again only after that.
            let parse = parses.keys.randomElement(using: &generator)
            if let parse, !runningPreviews.contains(parse) { previewIsDue(parse) }
        case 23:
            if let id = runningPreviews.randomElement(using: &generator) { previewEnded(id) }
        default:
            let kept = downloads.filter { !$0.value.graceTokens.isEmpty }
            if let (id, download) = kept.randomElement(using: &generator), let token = download.graceTokens.last {
                graceEnded(id, token: token)
            }
        }
    }

    private func randomPriority(_ generator: inout SeededGenerator) -> LoadPriority {
        LoadPriority.allCases.randomElement(using: &generator) ?? .normal
    }

    private func randomDownload(_ stage: Stage, _ generator: inout SeededGenerator) -> RecordID? {
        downloads.filter { $0.value.stage == stage }.randomElement(using: &generator)?.key
    }
}
