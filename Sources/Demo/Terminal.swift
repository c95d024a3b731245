import Foundation

/// The output of the demo: with a progress bar on a terminal, as plain lines otherwise.
struct Terminal: Sendable {
    private let hasCursor = isatty(STDOUT_FILENO) == 1
    private static let clearLine = "\r\u{1B}[K"

    func print(_ line: String) {
        write((hasCursor ? Self.clearLine : "") + line + "\n")
    }

    func complain(_ line: String) {
        FileHandle.standardError.write(Data("✘ \(line)\n".utf8))
    }

    /// Shows progress. Prints nothing if the output is not a terminal.
    func show(_ done: Int, of count: Int, as what: String) {
        guard hasCursor, count > 0 else { return }
        let width = 32
        let full = min(width, done * width / count)
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
        write("\(Self.clearLine)  \(bar) \(done) of \(count)  \(what)")
    }

    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}

/// Counts completed loads, from any task, and shows the progress.
actor Progress {
    private let terminal: Terminal
    private let what: String
    private let count: Int
    private var done = 0

    init(_ what: String, count: Int, on terminal: Terminal) {
        self.what = what
        self.count = count
        self.terminal = terminal
    }

    func step() {
        done += 1
        terminal.show(done, of: count, as: what)
    }
}
