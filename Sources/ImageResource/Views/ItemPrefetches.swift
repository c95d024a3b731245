import Foundation
import Synchronizer

/// The prefetches of the items of a list, each of which can be cancelled alone.
@MainActor
final class ItemPrefetches<Item: Hashable> {
    /// Identifies what an item shows. Headers do not count: an item shows the same with another token.
    private struct Content: Equatable {
        let url: URL?
        let method: String?
        let body: Data?
        let variant: ResourceVariant

        init(_ request: URLRequest, variant: ResourceVariant) {
            url = request.url
            method = request.httpMethod
            body = request.httpBody
            self.variant = variant
        }
    }

    private struct Prefetch {
        let content: Content
        let task: PrefetchTask
    }

    /// What an item shows now, and how to prefetch that. Nil if there is nothing to prefetch.
    private let next: @MainActor (Item) -> (Content, start: @MainActor () -> PrefetchTask)?
    private var prefetches: [Item: Prefetch] = [:]
    /// The number of tasks from which on those that have finished are forgotten.
    private static var maximumTasks: Int { 1_000 }

    /// - Parameters:
    ///   - resource: The resource of an item. Returns nil if there is nothing to prefetch.
    ///   - start: Starts the prefetch of a resource with this identity.
    init<R: Resource>(
        of resource: @escaping @MainActor (Item) -> R?,
        start: @escaping @MainActor (R, ResourceIdentity) -> PrefetchTask
    ) {
        next = { item in
            guard let resource = resource(item) else { return nil }
            let identity = resource.identity
            let begin: @MainActor () -> PrefetchTask = { start(resource, identity) }
            return (Content(identity.request, variant: resource.variant), begin)
        }
    }

    /// Starts the prefetches of items. An item whose prefetch is running keeps it, unless the item shows another resource by now,
    /// as after an insertion above it.
    func begin(_ items: [Item]) {
        if prefetches.count >= Self.maximumTasks { prefetches = prefetches.filter { !$0.value.task.isFinished } }
        for item in items {
            let next = next(item)
            if let old = prefetches[item] {
                if old.content != next?.0 { cancel([item]) } else if !old.task.isFinished { continue }
            }
            if let (content, start) = next { prefetches[item] = Prefetch(content: content, task: start()) }
        }
    }

    /// Cancels the prefetches of items. Those that have finished, and were not used, count as wasted.
    func cancel(_ items: [Item]) {
        for item in items { prefetches.removeValue(forKey: item)?.task.cancel() }
    }
}
