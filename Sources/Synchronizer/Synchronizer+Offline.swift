import Foundation

extension Synchronizer {
    /// Whether loads do without the network. False at first. You can set it from any thread.
    ///
    /// While it is true, no request is sent: every stored response answers whatever its age and whatever the cache policy, and
    /// everything else fails with ``SynchronizerError/notCached(_:)``. That holds for prefetches and for validations in the
    /// background, too. `file:` and `data:` URLs are loaded as usual.
    ///
    /// Setting it to true ends the transfers in flight, and loads that wait for the network or for a retry stop waiting. All of
    /// them are answered like new loads, which send their requests if the network is on again by then. A request with an unsafe
    /// method fails with ``SynchronizerError/notCached(_:)``, although the server may have received it. Setting it to false
    /// affects only later loads.
    ///
    /// A hook of yours, such as ``Configuration/prepare``, is called as usual, and should check this property before it
    /// uses the network.
    public var isOffline: Bool {
        get { network.isOffline }
        set { network.set(isOffline: newValue) }
    }

    /// The value of ``isOffline`` and its changes, until the synchronizer is released. A slow consumer gets only the latest value.
    ///
    /// ```swift
    /// for await isOffline in synchronizer.offlineUpdates { banner.isHidden = !isOffline }
    /// ```
    public var offlineUpdates: AsyncStream<Bool> { network.updates }
}

extension MemoryCache where Key == ObjectKey, Value == LoadedObject {
    /// The object that answers a load. Offline, an object of any age does.
    @inline(__always)  // each memory hit comes here
    func answer(for key: ObjectKey, policy: MemoryCachePolicy, at now: Date, network: NetworkSwitch)
        -> LoadedObject?
    {
        if let known = value(for: key, now: now, anyAge: policy == .ofAnyAge) { return known }
        return network.isOffline ? value(for: key, now: now, anyAge: true) : nil
    }
}
