#if canImport(FoundationNetworking)
    import Foundation

    /// Keeps the cookies that responses set.
    ///
    /// The session would do it, but looks for them in each line of each head, in a way that takes longer than the rest
    /// of what it does with the head; and it overlooks `set-cookie` in small letters.
    struct ResponseCookies: Sendable {
        private let storage: HTTPCookieStorage?
        private let changes: CookieChanges

        /// Keeps none.
        init() {
            storage = nil
            changes = CookieChanges()
        }

        /// Takes the task over from the session.
        init(takingOverFrom configuration: URLSessionConfiguration, _ changes: CookieChanges) {
            self.changes = changes
            storage = configuration.httpCookieAcceptPolicy == .never ? nil : configuration.httpCookieStorage
            configuration.httpCookieAcceptPolicy = .never
        }

        func keep(from response: URLResponse) {
            guard let storage, let response = response as? HTTPURLResponse, let url = response.url,
                let value = response.value(forHTTPHeaderField: "Set-Cookie")
            else { return }
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": value], for: url)
            changes.make { storage.setCookies(cookies, for: url, mainDocumentURL: nil) }
        }
    }

    extension HTTPCookieStorage {
        /// Whether there are any cookies: known sooner than those for a URL, and mostly there are none.
        var mayHaveCookies: Bool { cookies?.isEmpty == false }
    }
#endif
