import Foundation

/// Tells the user of a program what no caller can be told.
package enum Log {
    /// Writes one line to standard error. A failure is ignored: standard error may be closed, or a file on the full disk
    /// that the line is about.
    package static func line(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("Synchronizer: \(text)\n".utf8))
    }
}
