import Foundation

/// What makes two downloads the same: identity, cache policy, the networks that may be used, and options.
struct DownloadKey: Hashable, Sendable {
    let job: LoadJob
}

/// What makes two parses of the same download the same: type and variant.
struct ParseKey: Equatable, Sendable {
    let job: LoadJob
}

/// What makes two parsed objects the same.
struct ObjectKey: Hashable, Sendable {
    let identity: RequestIdentity
    let type: ObjectIdentifier
    let variant: ResourceVariant

    /// Variants of one request are few: they need not be told apart by their hashes.
    func hash(into hasher: inout Hasher) {
        hasher.combine(identity.hash ^ Int(bitPattern: type))
    }
}

extension Resource {
    /// What its objects in memory are kept under; nil if its request shares with nobody.
    func objectKey(_ identity: ResourceIdentity) -> ObjectKey? {
        identity.sharing.map { ObjectKey(identity: $0, type: ObjectIdentifier(Self.self), variant: variant) }
    }
}
