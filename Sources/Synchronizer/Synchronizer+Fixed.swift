import Foundation

extension Synchronizer {
    /// Keeps an object in memory as if it had been loaded, and never expires.
    package func keep<R: Resource>(_ object: R.ParsedObject, for resource: R) {
        let identity = identity(of: resource)
        guard let key = resource.objectKey(identity), let url = identity.request.url else { return }
        let loaded = LoadedObject(
            object: object, cost: resource.cost(of: object, size: 0), bodyDigest: 0,
            head: ResponseHead(url: url, status: 200, fields: .init()), freshUntil: .distantFuture, trace: LoadTrace())
        memory.insert(loaded, for: key, cost: loaded.cost, expires: .distantFuture, now: time.now)
    }
}
