// Which request fields are credentials.
//
// No list has them all: services invent names of their own (`X-Api-Key`, `X-Amz-Security-Token`, `Private-Token`,
// `DD-API-KEY`). So a field counts as a credential if a word in its name suggests one. A false positive costs a request that
// the cache could have answered; a false negative would show one user's response to another. `Idempotency-Key` has a word of
// a credential, and is none: it names one request, so that a server performs it once.
extension CacheRules {
    /// Whether the field authenticates the user.
    @inline(never)
    package static func isCredential(_ name: String) -> Bool {
        name.withBytes { name in
            hasWord(isProof, in: name) && !hasWord(isAgainstForgery, in: name) && !hasWord(isOfOneRequest, in: name)
        } && !HTTPFields.same(name, FieldName.proxyAuthorization)
    }

    /// Whether only the server that the request is sent to may see the field's value: a credential, also one for a proxy, or a
    /// CSRF token (`X-CSRF-Token`), which does not identify the user.
    @inline(never)
    package static func isSecret(_ name: String) -> Bool {
        name.withBytes { name in
            (hasWord(isProof, in: name) && !hasWord(isOfOneRequest, in: name)) || hasWord(isAgainstForgery, in: name)
        }
    }

    /// Whether requests with different values may be those of different users: a credential, also one for a proxy.
    package static func identifiesUser(_ name: String) -> Bool {
        isCredential(name) || HTTPFields.same(name, FieldName.proxyAuthorization)
    }

    /// Whether a redirect to another origin drops the field, because it is a secret, or `Host`, which names the origin.
    package static func isForOneOrigin(_ name: String) -> Bool {
        isSecret(name) || HTTPFields.same(name, FieldName.host)
    }

    private typealias Name = UnsafeBufferPointer<UInt8>

    /// Whether a word of the name satisfies the predicate. Words are separated by hyphens or underscores.
    private static func hasWord(_ isMeant: (Name) -> Bool, in name: Name) -> Bool {
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
        case 3: return isSame(word, as: "key") || isSame(word, as: "jwt") || isSame(word, as: "sid")
        case 4: return isSame(word, as: "auth")
        case 5: return isSame(word, as: "token")
        case 6:
            return isSame(word, as: "cookie") || isSame(word, as: "secret") || isSame(word, as: "apikey")
                || isSame(word, as: "bearer")
        case 7: return isSame(word, as: "session") || isSame(word, as: "cookie2")
        case 8: return isSame(word, as: "password") || isSame(word, as: "apitoken")
        case 9: return isSame(word, as: "authtoken") || isSame(word, as: "sessionid") || isSame(word, as: "signature")
        case 10: return isSame(word, as: "credential")
        case 11: return isSame(word, as: "credentials") || isSame(word, as: "accesstoken")
        case 13: return isSame(word, as: "authorization")
        case 14: return isSame(word, as: "authentication")
        default: return false
        }
    }

    private static func isAgainstForgery(_ word: Name) -> Bool {
        switch word.count {
        case 4: return isSame(word, as: "csrf") || isSame(word, as: "xsrf")
        case 9: return isSame(word, as: "csrftoken") || isSame(word, as: "xsrftoken")
        default: return false
        }
    }

    private static func isOfOneRequest(_ word: Name) -> Bool { isSame(word, as: "idempotency") }

    private static func isSame(_ name: Name, as known: StaticString) -> Bool {
        sameName(name, Name(start: known.utf8Start, count: known.utf8CodeUnitCount))
    }
}
