import Foundation

/// What makes two downloads the same.
struct DownloadKey: Hashable, Sendable {
    let identity: RequestIdentity
    let policy: URLRequest.CachePolicy
    let access: NetworkAccess
    let options: FetchOptions
}

/// What makes two parsed objects the same.
struct ObjectKey: Hashable, Sendable {
    let identity: RequestIdentity
    let type: ObjectIdentifier
    let variant: ResourceVariant

    /// Variants of one request are few: they need not be told apart by their hashes.
    func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
        hasher.combine(type)
    }
}
