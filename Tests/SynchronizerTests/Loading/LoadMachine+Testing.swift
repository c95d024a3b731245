@testable import Synchronizer

extension LoadMachine {
    /// Whether there is a free network slot, for some host.
    var networkHasRoom: Bool { network.mayStart }

    /// Returns what to do now; never the same action twice.
    mutating func takeActions() -> [Action] {
        startPending()
        defer { forgetActions() }
        return actions
    }
}
