import Foundation

// Loads what `Scripts/interop` lists from real servers, and prints what came of it.

let arguments = CommandLine.arguments
guard arguments.count == 3, let rounds = Int(arguments[2]) else {
    print("usage: InteropProbe LIST ROUNDS")
    exit(2)
}
let list = try LoadList(file: arguments[1])
var report = Report()

for origin in list.origins {
    for _ in 0..<rounds {
        let checks = try OriginChecks(origin, list)
        for check in OriginChecks.all {
            report.add(origin.name, check.name, await failure(of: { try await check.run(checks) }))
        }
        let session = SessionChecks(origin, list)
        for check in SessionChecks.all {
            report.add(origin.name, check.name, await failure(of: { try await check.run(session) }))
        }
    }
}
for load in list.loads {
    report.add(load.name, load.expectation, await failure(of: { try await LoadCheck(load, list).run() }))
}
report.print()
exit(report.isGood ? 0 : 1)
