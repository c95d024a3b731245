public import Synchronizer

import Foundation

extension Synchronizer {
    /// Loads an image by a string, and always answers with something to show.
    ///
    /// The completion is called on the main actor, once, or never after a cancel; for an image in memory before this
    /// returns, if it is called on the main actor.
    ///
    /// - Parameters:
    ///   - urlString: nil, or what is no URL, is answered with the placeholder.
    ///   - placeholder: the answer where there is no image.
    ///   - completion: given the image, and whether it came without the network having to send it: out of memory or the
    ///     cache, or as the placeholder.
    /// - Returns: what cancels the load, from any thread.
    @MainActor
    @discardableResult
    public func loadImage(
        urlString: String?, placeholder: PlatformImage?,
        completion: @escaping @MainActor (_ image: PlatformImage?, _ isCached: Bool) -> Void
    ) -> CancelLoading {
        guard let url = urlString.flatMap({ URL(string: $0) }) else {
            completion(placeholder, true)
            return {}
        }
        let resource = ImageResource(url: url)
        if let image = cachedObject(for: resource) {
            completion(image, true)
            return {}
        }
        let task = Task { @MainActor in
            let loaded = try? await loaded(resource)
            if Task.isCancelled { return }
            guard let loaded else { return completion(placeholder, true) }
            completion(loaded.object, loaded.source != .network)
        }
        return { task.cancel() }
    }
}
