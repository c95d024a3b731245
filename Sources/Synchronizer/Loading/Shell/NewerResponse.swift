import HTTPCaching

/// A response from the network, for the objects in memory that were made from older responses to the same request.
struct NewerResponse: Sendable {
    /// The key of the object that is made from it; nil if the request is never coalesced.
    var key: ObjectKey?
    private let head: ResponseHead
    /// Nil after an error: then no object stays.
    private let fetched: Fetched?

    /// Nil if the response does not come from the network, or does not tell what the resource is now.
    init?(_ fetched: Fetched) {
        guard fetched.trace.source == .network, CacheRules.describesResource(fetched.response.status) else {
            return nil
        }
        self.fetched = fetched
        head = fetched.response
    }

    init?(_ error: SynchronizerError) {
        guard case .status(_, let context) = error, context.trace.source == .network, let head = context.head,
            CacheRules.describesResource(head.status)
        else { return nil }
        self.head = head
        fetched = nil
    }

    /// Forgets the objects that it outdates: those of requests that it could have answered, unless they were made from the same
    /// bytes. The object that is made from it replaces the one with its own key later.
    func forgetOutdated(in memory: MemoryCache<ObjectKey, LoadedObject>) {
        guard let key else { return }
        let vary = CacheRules.varyNames(of: head.fields)
        memory.removeGroup(key.identity.urlHash, besides: fetched == nil ? nil : key) { other, object in
            key.identity.sharesResponses(with: other.identity, varyingOn: vary)
                && (fetched == nil || object.bodyChecksum != fetched?.bodyChecksum)
        }
    }
}
