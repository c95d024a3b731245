public import Synchronizer

import Foundation

extension Synchronizer {
    /// Loads the image at a URL that is given as a string. If there is no image, the answer is the placeholder.
    ///
    /// The completion is called once on the main actor, or never after a cancel. If you call this on the main actor and the
    /// image is in memory, the completion runs before this returns.
    ///
    /// - Parameters:
    ///   - urlString: The image's URL. If it is nil or not a URL, the answer is the placeholder.
    ///   - placeholder: The answer if there is no image.
    ///   - completion: Gets the image, and whether it came without a transfer: from memory, from the cache, or as the
    ///     placeholder.
    /// - Returns: Cancels the load, from any thread.
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
