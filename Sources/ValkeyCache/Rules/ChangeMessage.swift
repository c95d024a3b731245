import Foundation

/// The message by which a process announces a change to the other processes.
package struct ChangeMessage: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Entries of the URL were stored, updated or removed one by one.
        case changed(url: String)
        /// All entries of the URL were invalidated. The token is that of the removal.
        case removed(url: String, token: String)
        /// Everything was removed: this is the new generation.
        case generation(String)
    }

    /// The name of the cache instance that made the change.
    package let sender: String
    package let kind: Kind

    package init(_ kind: Kind, from sender: String) { (self.kind, self.sender) = (kind, sender) }

    package var text: String {
        switch kind {
        case .changed(let url): "\(sender) changed - \(url)"
        case .removed(let url, let token): "\(sender) removed \(token) \(url)"
        case .generation(let generation): "\(sender) generation \(generation) "
        }
    }

    /// The token of a removal: 16 hexadecimal digits; nil for any other text.
    package static func token(_ text: Data) -> String? {
        guard text.count == 16, text.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    /// Parses a message; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, !parts[0].isEmpty, !parts[2].isEmpty else { return nil }
        sender = parts[0]
        switch parts[1] {
        case "changed": kind = .changed(url: parts[3])
        case "removed":
            guard let token = Self.token(Data(parts[2].utf8)) else { return nil }
            kind = .removed(url: parts[3], token: token)
        case "generation": kind = .generation(parts[2])
        default: return nil
        }
    }
}
