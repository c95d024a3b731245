import HTTPCaching

/// A response from the network, for the objects in memory that were made from older responses to the same request: a cache must use
/// the most recent response (RFC 9111 §4).
struct NewerResponse: Sendable {
    private let key: ObjectKey
    private let head: ResponseHead
    /// Nil after an error: then no older object stays.
    private let fetched: Fetched?
    private let order: ResponseOrder

    /// Nil if the response does not come from the network, or does not tell what the resource is now.
    ///
    /// - Parameter key: that of the object that is made from the response; nil if the request is never coalesced.
    init?(_ result: Result<Fetched, SynchronizerError>, for key: @autoclosure () -> ObjectKey?) {
        let (head, source, requested): (ResponseHead?, LoadSource?, Date?)
        switch result {
        case .success(let fetched):
            (head, source, requested) = (fetched.response, fetched.trace.source, fetched.order.requested)
        case .failure(.status(_, let context)):
            (head, source, requested) = (context.head, context.trace.source, context.requested)
        case .failure: return nil
        }
        guard source == .network, let head, CacheRules.describesResource(head.status), let key = key() else {
            return nil
        }
        (self.key, self.head, fetched) = (key, head, try? result.get())
        order = ResponseOrder(requested: requested ?? .distantFuture, ended: .max)
    }

    /// Forgets the objects that it outdates: those of requests that it could have answered, unless they were made from the same
    /// bytes, or the server was asked for them later. The object that is made from it replaces the one with its own key later.
    func forgetOutdated(in memory: MemoryCache<ObjectKey, LoadedObject>, at now: Date) {
        let vary = CacheRules.varyNames(of: head.fields)
        // It may read the whole body, so it is computed once, and only if there are such objects.
        lazy var checksum = fetched?.bodyChecksum
        memory.removeGroup(key.identity.urlHash, besides: fetched == nil ? nil : key) { other, object in
            key.identity.sharesResponses(with: other.identity, varyingOn: vary)
                && !object.order.isNewer(than: order, at: now)
                && (fetched == nil || object.bodyChecksum != checksum)
        }
    }
}
