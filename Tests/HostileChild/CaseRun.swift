import Foundation
import HostileServer
import ScriptedServer
import Synchronizer
import TestSupport

/// Plays each case against a synchronizer: the result of the load, the stored response afterwards, and the memory that it took.
struct CaseRun {
    /// A load may take so much memory besides the bytes of the response.
    static let allowance = 50 << 20

    let bench: Workbench
    let synchronizer: Synchronizer
    private static let old = Data("old".utf8)

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer {
            $0.maximumResponseSize = HostileCase.maximumResponseSize
            $0.timeoutForLoad = 1_000
        }
    }

    /// Plays all of them. Those that wait for the time-out of idle connections wait together.
    func runAll() async throws {
        for number in HostileCase.all.indices where HostileCase.all[number].wait != .idleTimeout {
            try await run(number)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in HostileCase.all.indices where HostileCase.all[number].wait == .idleTimeout {
                group.addTask { try await run(number) }
            }
            try await group.waitForAll()
        }
    }

    private func run(_ number: Int) async throws {
        let hostile = HostileCase.all[number]
        let path = "/case/\(number)"
        say("begin \(number)")
        bench.server[path] = Reply("old", fields: ["Cache-Control": "max-age=100"]).closing()
        let url = bench.server.url(path)
        guard try await synchronizer.load(DataResource(url: url)) == Self.old else { return say("wrong \(number) old") }
        hostile.install(on: bench.server, at: path)
        Memory.resetPeak()
        let before = Memory.resident
        let outcome = await outcome(of: hostile, url)
        let growth = Memory.peak - before
        if outcome != hostile.outcome { say("wrong \(number) outcome \(outcome)") }
        if hostile.method == "GET" {
            let expected = hostile.isStored ? hostile.outcome : .response(status: 200, body: Self.old)
            let stored = await stored(url)
            if stored != expected { say("wrong \(number) stored \(stored)") }
        }
        if growth > HostileCase.maximumResponseSize + Self.allowance {
            say("wrong \(number) memory \(growth >> 10) KB")
        }
        say("end \(number) \(growth >> 10)")
    }

    private func outcome(of hostile: HostileCase, _ url: URL) async -> HostileCase.Outcome {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.httpMethod = hostile.method
        if hostile.method == "POST" { request.httpBody = Data(count: 8 << 20) }
        if hostile.wait == .idleTimeout { request.timeoutInterval = 1 }
        let resource = DataResource(request: request)
        guard hostile.wait == .loadTimeout else { return await outcome(resource) }
        let requests = bench.server.counts.requests
        async let outcome = outcome(resource)
        _ = try? await bench.server.wait(for: "the request") { $0.requests > requests }
        bench.clock.advance(by: 2_000)
        return await outcome
    }

    private func stored(_ url: URL) async -> HostileCase.Outcome {
        synchronizer.removeAllObjects()
        return await outcome(DataResource(request: URLRequest(url: url, cachePolicy: .returnCacheDataDontLoad)))
    }

    private func outcome(_ resource: DataResource) async -> HostileCase.Outcome {
        do {
            let loaded = try await synchronizer.loaded(resource)
            return .response(status: (loaded.response as? HTTPURLResponse)?.statusCode ?? 0, body: loaded.object)
        } catch let error as SynchronizerError {
            return Self.outcome(error)
        } catch {
            return .error(.unknown)
        }
    }

    private static func outcome(_ error: SynchronizerError) -> HostileCase.Outcome {
        switch error {
        case .status(let response, let context): .response(status: response.statusCode, body: context.body ?? Data())
        case .noData(let context):
            .response(status: (context.response as? HTTPURLResponse)?.statusCode ?? 0, body: Data())
        case .tooLarge: .tooLarge
        case .transport(let error as URLError, _): .error(error.code)
        case .invalidRequest: .error(.unsupportedURL)
        case .transport, .undecodable, .file, .notCached, .hookFailed: .error(.unknown)
        }
    }
}
