/// The request fields that prove who asks, told by their names.
///
/// There is no list of them all: each service makes up its own (`X-Api-Key`, `X-Amz-Security-Token`, `Private-Token`,
/// `DD-API-KEY`). So a field is taken for a credential if a word of its name says so. One that is none costs a request
/// that could have been spared; one that is overlooked would show somebody what is another's.
package enum Credentials {
    /// Whether this field proves who asks.
    package static func contains(_ name: String) -> Bool {
        name.withBytes { name in
            hasWord(name, isProof) && !hasWord(name, isAgainstForgery) && !same(name, "proxy-authorization")
        }
    }

    /// Whether answers are always bound to the value of this field. Not to that of `Cookie`: see ``SelectingFields``.
    package static func bindAlways(in name: String) -> Bool {
        contains(name) && !HTTPFields.same(name, "Cookie")
    }

    /// Whether the value of this field is for the server that is asked, and for nobody else: a credential, one for a
    /// proxy, or a token against forged requests (`X-CSRF-Token`), which does not say who asks.
    package static func areSecret(in name: String) -> Bool {
        name.withBytes { name in hasWord(name, isProof) || hasWord(name, isAgainstForgery) }
    }

    private typealias Name = UnsafeBufferPointer<UInt8>

    /// Names are words with hyphens between them, seldom with something else.
    private static func hasWord(_ name: Name, _ isMeant: (Name) -> Bool) -> Bool {
        var start = name.startIndex
        while start < name.endIndex {
            let end = name[start...].firstIndex { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") } ?? name.endIndex
            if isMeant(Name(rebasing: name[start..<end])) { return true }
            start = end + 1
        }
        return false
    }

    private static func isProof(_ word: Name) -> Bool {
        switch word.count {
        case 3: return same(word, "key") || same(word, "jwt") || same(word, "sid")
        case 4: return same(word, "auth")
        case 5: return same(word, "token")
        case 6: return same(word, "cookie") || same(word, "secret") || same(word, "apikey") || same(word, "bearer")
        case 7: return same(word, "session") || same(word, "cookie2")
        case 8: return same(word, "password") || same(word, "apitoken")
        case 9: return same(word, "authtoken") || same(word, "sessionid") || same(word, "signature")
        case 10: return same(word, "credential")
        case 11: return same(word, "credentials") || same(word, "accesstoken")
        case 13: return same(word, "authorization")
        case 14: return same(word, "authentication")
        default: return false
        }
    }

    private static func isAgainstForgery(_ word: Name) -> Bool {
        switch word.count {
        case 4: return same(word, "csrf") || same(word, "xsrf")
        case 9: return same(word, "csrftoken") || same(word, "xsrftoken")
        default: return false
        }
    }

    private static func same(_ name: Name, _ known: StaticString) -> Bool {
        sameName(name, Name(start: known.utf8Start, count: known.utf8CodeUnitCount))
    }
}
