/// The directives of a message's `Cache-Control` (RFC 9111 §5.2, RFC 5861, RFC 8246). Unknown ones are ignored.
///
/// If a directive occurs more than once, the first occurrence counts (§4.2.1). A malformed lifetime counts as zero: the
/// response is stale (§4.2.1). A malformed directive that restricts caching still restricts it; one that permits something
/// permits nothing.
package struct CacheControl: Hashable, Sendable {
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let noStore = Flags(rawValue: 1 << 0)
        /// `no-cache` without field names; see ``CacheControl/noCacheFields`` for `no-cache` with field names.
        package static let noCache = Flags(rawValue: 1 << 1)
        package static let mustRevalidate = Flags(rawValue: 1 << 2)
        package static let mustUnderstand = Flags(rawValue: 1 << 3)
        package static let isPublic = Flags(rawValue: 1 << 4)
        /// With or without an argument: both allow a private cache to store (§5.2.2.7).
        package static let isPrivate = Flags(rawValue: 1 << 5)
        package static let immutable = Flags(rawValue: 1 << 6)
        package static let onlyIfCached = Flags(rawValue: 1 << 7)
    }

    package private(set) var flags: Flags = []
    package private(set) var maxAge: TimeInterval?
    package private(set) var minFresh: TimeInterval?
    /// Infinite without an argument: the caller accepts a stale response of any age (§5.2.1.2).
    package private(set) var maxStale: TimeInterval?
    package private(set) var staleWhileRevalidate: TimeInterval?
    package private(set) var staleIfError: TimeInterval?
    /// The fields that `no-cache="…"` names (§5.2.2.4).
    package private(set) var noCacheFields: [String] = []

    package init() {}

    package init(_ fields: HTTPFields) {
        for line in fields.lines where HTTPFields.same(line.name, FieldName.cacheControl) { add(line.value) }
    }

    package func contains(_ flag: Flags) -> Bool { flags.contains(flag) }

    /// Adds the directives of one field line.
    package mutating func add(_ value: String) {
        value.scan { scanner in
            scanner.skipSeparators()
            while !scanner.isAtEnd {
                addDirective(&scanner)
                scanner.skipSeparators()
            }
        }
    }

    private mutating func addDirective(_ scanner: inout FieldScanner) {
        let name = Name(of: scanner.token(), in: scanner)
        let argument = Argument(&scanner, readsNumber: name?.takesSeconds ?? false)
        let isWellFormed = !scanner.skipToComma()
        if let name { add(name, argument: isWellFormed ? argument : .malformed) }
    }

    private mutating func add(_ name: Name, argument: Argument) {
        switch name {
        case .noStore: flags.insert(.noStore)
        case .noCache: addNoCache(argument)
        case .mustRevalidate: flags.insert(.mustRevalidate)
        case .mustUnderstand: if argument.isAbsent { flags.insert(.mustUnderstand) }
        case .isPublic: if argument.isAbsent { flags.insert(.isPublic) }
        case .isPrivate: flags.insert(.isPrivate)
        case .immutable: if argument.isAbsent { flags.insert(.immutable) }
        case .onlyIfCached: flags.insert(.onlyIfCached)
        case .maxAge: maxAge = maxAge ?? argument.seconds ?? 0
        case .minFresh: minFresh = minFresh ?? argument.seconds
        case .maxStale: maxStale = maxStale ?? (argument.isAbsent ? .infinity : argument.seconds)
        case .staleWhileRevalidate: staleWhileRevalidate = staleWhileRevalidate ?? argument.seconds ?? 0
        case .staleIfError: staleIfError = staleIfError ?? argument.seconds ?? 0
        }
    }

    private mutating func addNoCache(_ argument: Argument) {
        let names = argument.text?.listedTokens ?? []
        if names.isEmpty { flags.insert(.noCache) } else { noCacheFields += names }
    }
}

extension CacheControl {
    private enum Name {
        case noStore, noCache, mustRevalidate, mustUnderstand, isPublic, isPrivate, immutable, onlyIfCached
        case maxAge, minFresh, maxStale, staleWhileRevalidate, staleIfError

        init?(of token: Range<Int>, in scanner: FieldScanner) {
            guard let known = Self.known.first(where: { scanner.matches(in: token, name: $0.0) }) else { return nil }
            self = known.1
        }

        var takesSeconds: Bool {
            switch self {
            case .maxAge, .minFresh, .maxStale, .staleWhileRevalidate, .staleIfError: return true
            default: return false
            }
        }

        private static let known: [(StaticString, Name)] = [
            ("max-age", .maxAge), ("public", .isPublic), ("private", .isPrivate), ("no-cache", .noCache),
            ("no-store", .noStore), ("must-revalidate", .mustRevalidate), ("immutable", .immutable),
            ("stale-while-revalidate", .staleWhileRevalidate), ("stale-if-error", .staleIfError),
            ("must-understand", .mustUnderstand), ("max-stale", .maxStale), ("min-fresh", .minFresh),
            ("only-if-cached", .onlyIfCached),
        ]
    }

    /// The argument of a directive. All directives accept both the token and the quoted form (§5.2).
    private enum Argument {
        case absent, malformed
        case seconds(Double)
        case text(String)

        init(_ scanner: inout FieldScanner, readsNumber: Bool) {
            guard scanner.take(UInt8(ascii: "=")) else {
                self = .absent
                return
            }
            if scanner.next == UInt8(ascii: "\"") {
                self = scanner.quotedString().map { readsNumber ? .number(in: $0) : .text($0) } ?? .malformed
            } else if readsNumber {
                self = scanner.deltaSeconds().map(Argument.seconds) ?? .malformed
            } else {
                let token = scanner.token()
                self = token.isEmpty ? .malformed : .text(scanner.text(token))
            }
        }

        private static func number(in text: String) -> Argument {
            text.scan { scanner in
                guard let seconds = scanner.deltaSeconds(), scanner.isAtEnd else { return .malformed }
                return .seconds(seconds)
            }
        }

        var isAbsent: Bool { if case .absent = self { true } else { false } }
        var seconds: Double? { if case .seconds(let seconds) = self { seconds } else { nil } }
        var text: String? { if case .text(let text) = self { text } else { nil } }
    }
}
