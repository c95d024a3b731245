import Foundation

/// The test process that started this one.
package enum ParentProcess {
    /// Where tests name themselves, by process identifier, to their children.
    package static let variable = "SYNCHRONIZER_TESTS"

    /// Ends this process within a second after its tests have ended, however they ended. A program that you start yourself
    /// does not end with its parent.
    package static func endWithIt() {
        let parent = getppid()
        guard ProcessInfo.processInfo.environment[variable] == "\(parent)" else { return }
        Thread.detachNewThread {
            while getppid() == parent { poll(nil, 0, 1_000) }  // looks once a second
            _exit(1)
        }
    }
}
