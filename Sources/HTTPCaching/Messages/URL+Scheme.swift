extension URL {
    /// Whether it is an HTTP URL in its usual spelling: faster than reading its scheme.
    package var isPlainHTTP: Bool {
        let text = absoluteString
        return text.utf8.starts(with: "http://".utf8) || text.utf8.starts(with: "https://".utf8)
    }

    /// The same URL with its scheme in lower case. Schemes compare without regard to case (RFC 3986 §3.1), but
    /// `URLSession` on Linux supports them in lower case only.
    package var withLowercaseScheme: URL {
        guard !isPlainHTTP, let scheme, scheme != scheme.lowercased() else { return self }
        return URL(string: scheme.lowercased() + absoluteString.dropFirst(scheme.count)) ?? self
    }
}
