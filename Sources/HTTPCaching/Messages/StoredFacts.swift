/// The facts in the head of a response that decide whether it may be used, as flags and numbers. They are computed once, when
/// the response is stored, and stored with it, so that a lookup need not parse these fields. The texts of validators and the
/// names in `Vary` stay in the fields.
package struct StoredFacts: Hashable, Sendable {
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The response must not be reused (RFC 9111 §5.2.2.5).
        package static let isForbidden = Flags(rawValue: 1 << 0)
        /// The response must be validated before each use (§5.2.2.4).
        package static let mustBeValidated = Flags(rawValue: 1 << 1)
        /// The response must not be used when stale (§4.2.4).
        package static let mustNotBeStale = Flags(rawValue: 1 << 2)
        package static let isImmutable = Flags(rawValue: 1 << 3)
        package static let isPrivate = Flags(rawValue: 1 << 4)
        /// `no-cache` names fields.
        package static let hasNoCacheFields = Flags(rawValue: 1 << 5)
        package static let hasVary = Flags(rawValue: 1 << 6)
        /// `Vary` contains `*`, so no request matches the response (§4.1).
        package static let variesOnEverything = Flags(rawValue: 1 << 7)
        package static let hasContentCoding = Flags(rawValue: 1 << 8)
        /// There is an `ETag` or a `Last-Modified`.
        package static let hasValidator = Flags(rawValue: 1 << 9)
        /// `Last-Modified` is a strong validator (RFC 9110 §8.8.2.2).
        package static let hasStrongDate = Flags(rawValue: 1 << 10)
    }

    package let flags: Flags
    /// What gives the response its lifetime.
    package let rule: LifetimeRule
    /// The lifetime in seconds. If ``rule`` is heuristic, this is the time from `Last-Modified` to ``generated`` instead, of which
    /// the lifetime is a fraction.
    package let period: Double
    /// The age of the response when it arrived, in seconds (RFC 9111 §4.2.3).
    package let initialAge: Double
    /// When the response was generated: its `Date`, or else the time at which it arrived.
    package let generated: Date
    /// Seconds after its lifetime for which the response says that it may be used (RFC 5861); nil if it does not say.
    package let staleWhileRevalidate: Double?
    package let staleIfError: Double?

    package func contains(_ flag: Flags) -> Bool { flags.contains(flag) }
}

/// The source of a response's lifetime (RFC 9111 §4.2.1, §4.2.2). Stores contain the raw values.
package enum LifetimeRule: UInt8, Hashable, Sendable {
    /// The response has no lifetime, and none is estimated.
    case none = 0
    case maxAge = 1
    case expires = 2
    case heuristic = 3
    /// The `max-age` that the session's delegate injected.
    case injected = 4

    /// The rule in words.
    package var name: String {
        switch self {
        case .none: "no lifetime"
        case .maxAge: "max-age"
        case .expires: "Expires"
        case .heuristic: "heuristic"
        case .injected: "injected max-age"
        }
    }
}

// MARK: - Encoding

extension StoredFacts {
    /// The number of bytes that ``encoded`` has.
    package static let encodedSize = 3 + 5 * 8

    /// Flags, rule and numbers. A stale period that the response does not state is encoded as −1.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.encodedSize)
        withUnsafeBytes(of: flags.rawValue.littleEndian) { bytes += $0 }
        bytes.append(rule.rawValue)
        let numbers = [
            period, initialAge, generated.timeIntervalSinceReferenceDate, staleWhileRevalidate ?? -1,
            staleIfError ?? -1,
        ]
        for number in numbers { withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes += $0 } }
        return bytes
    }

    /// - Returns: nil if the bytes encode no facts.
    package init?(encoded bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.encodedSize, let rule = LifetimeRule(rawValue: bytes[2]) else { return nil }
        func number(_ index: Int) -> Double {
            Double(
                bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 3 + index * 8, as: UInt64.self)))
        }
        let (whileRevalidating, ifError) = (number(3), number(4))
        self.init(
            flags: Flags(rawValue: UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self))), rule: rule,
            period: number(0), initialAge: number(1), generated: Date(timeIntervalSinceReferenceDate: number(2)),
            staleWhileRevalidate: whileRevalidating < 0 ? nil : whileRevalidating,
            staleIfError: ifError < 0 ? nil : ifError)
    }
}
