import Foundation

/// What a person who runs the program should know, and no caller can be told.
package enum Log {
    /// Writes one line to standard error.
    package static func line(_ text: String) {
        FileHandle.standardError.write(Data("Synchronizer: \(text)\n".utf8))
    }
}
