import Foundation

/// Reports problems for which there is no caller that could get an error.
package enum Log {
    /// Writes one line to standard error. A failure is ignored: standard error may be closed, or redirected to a file on the
    /// full disk that the line reports.
    package static func line(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("Synchronizer: \(text)\n".utf8))
    }
}
