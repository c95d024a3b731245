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

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "table": print(HostileTable.markdown)
case "cases": try await CaseRun().runAll()
default: fail("usage: HostileChild table | cases")
}
say("done")
