import Foundation

/// What a person who runs the program should know, and no caller can be told.
package enum Log {
    /// Writes one line to standard error, if that can be written: it may be closed, or a file on the full disk that the
    /// line is about.
    package static func line(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("Synchronizer: \(text)\n".utf8))
    }
}
