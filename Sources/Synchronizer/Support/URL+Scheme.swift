import Foundation

extension URL {
    /// Whether it is one of HTTP in its common spelling, which is found out sooner than its scheme.
    var isPlainHTTP: Bool {
        let text = absoluteString
        return text.utf8.starts(with: "http://".utf8) || text.utf8.starts(with: "https://".utf8)
    }

    /// The same URL with its scheme in lower case. Schemes compare without regard to case (RFC 3986 §3.1), but
    /// `URLSession` on Linux knows them in lower case only.
    var withLowercaseScheme: URL {
        guard !isPlainHTTP, let scheme, scheme != scheme.lowercased() else { return self }
        return URL(string: scheme.lowercased() + absoluteString.dropFirst(scheme.count)) ?? self
    }
}
