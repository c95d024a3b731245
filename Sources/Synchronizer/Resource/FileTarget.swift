import Foundation

/// Says that a body goes to a file.
package struct FileTarget: Hashable, Sendable {
    /// The file that the body is for; nil if a parser reads it.
    package let destination: URL?

    package init(_ destination: URL?) {
        self.destination = destination
    }

    /// All targets are equal: loads of one response share its download, wherever their files are.
    package static func == (one: FileTarget, other: FileTarget) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
