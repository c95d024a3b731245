import Foundation
import Measuring

/// What the two unchecked casts of a memory hit cost, beside the checked ways that they replace. Their comments, in
/// `MainQueue.call` and `LoadedObject.object(of:)`, cite these rows.
@MainActor enum CastRows {
    private static let count = 200_000

    static func rows() throws -> [Row] {
        let objects: [any Sendable] = (0..<100).map { Data(repeating: 7, count: $0 + 20) }
        return [
            Row(
                "calling a function of the main actor without a check",
                try Comparison(calls(Self.call), against: calls(Self.callChecked)), unit: .nanoseconds,
                against: "MainActor.assumeIsolated", .atMost(0.75)),
            Row(
                "casting an object to its type after comparing types",
                try Comparison(casts(of: objects, cast), against: casts(of: objects, castDynamically)),
                unit: .nanoseconds, against: "a dynamic cast", .atMost(0.75)),
        ]
    }

    // MARK: - Calls

    private static func calls(_ call: @escaping (@escaping @MainActor (Int) -> Void, Int) -> Void) -> () throws ->
        Double
    {
        {
            var sum = 0
            let time = nanoseconds { for number in 0..<count { call({ sum += $0 }, number) } }
            guard sum == count * (count - 1) / 2 else { throw BenchmarkError("calls are missing") }
            return time / Double(count)
        }
    }

    @inline(never)
    private nonisolated static func call(_ completion: @escaping @MainActor (Int) -> Void, _ value: Int) {
        unsafeBitCast(completion, to: ((Int) -> Void).self)(value)
    }

    @inline(never)
    private nonisolated static func callChecked(_ completion: @escaping @MainActor (Int) -> Void, _ value: Int) {
        MainActor.assumeIsolated { completion(value) }
    }

    // MARK: - Casts

    private static func casts(
        of objects: [any Sendable], _ cast: @escaping (any Sendable, Data.Type) -> Data?
    ) -> () throws -> Double {
        {
            var bytes = 0
            let time = nanoseconds {
                for number in 0..<count { bytes += cast(objects[number % objects.count], Data.self)?.count ?? 0 }
            }
            guard bytes > count * 20 else { throw BenchmarkError("objects are missing") }
            return time / Double(count)
        }
    }

    @inline(never)
    private nonisolated static func cast<Wanted>(_ object: any Sendable, as type: Wanted.Type) -> Wanted? {
        func value<Object>(_ object: Object) -> Wanted? {
            guard Object.self == Wanted.self else { return nil }
            return unsafeBitCast(object, to: Wanted.self)
        }
        return _openExistential(object, do: value)
    }

    @inline(never)
    private nonisolated static func castDynamically<Wanted>(_ object: any Sendable, as type: Wanted.Type) -> Wanted? {
        object as? Wanted
    }
}
