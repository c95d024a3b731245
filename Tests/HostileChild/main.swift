import Foundation
import HostileServer
import TestSupport

// A process that meets hostile servers, so that a test sees whether it survives, and how much memory it takes.

/// Says something to the parent at once.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func fail(_ line: String) -> Never {
    say("wrong: " + line)
    exit(1)
}

ParentProcess.endWithIt()
let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "table": say(HostileTable.markdown)
case "cases": try await CaseRun().runAll()
case "chaos":
    guard let seconds = arguments.dropFirst().first.flatMap(Double.init) else { fail("chaos SECONDS [SEED]") }
    try await ChaosRun(seed: arguments.dropFirst(2).first.flatMap(UInt64.init) ?? 1).run(seconds: seconds)
case "exit":
    guard let url = arguments.dropFirst().first.flatMap(URL.init) else { fail("exit URL") }
    try await ExitRun.run(url)
default: fail("usage: HostileChild table | cases | chaos SECONDS [SEED] | exit URL")
}
say("done")
