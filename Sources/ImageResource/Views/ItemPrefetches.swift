import Synchronizer

/// The prefetches of the items of a list, each of which can be cancelled alone.
@MainActor
final class ItemPrefetches<Item: Hashable> {
    private let start: @MainActor (Item) -> PrefetchTask?
    private var tasks: [Item: PrefetchTask] = [:]
    /// The number of tasks from which on those that have finished are forgotten.
    private static var mostTasks: Int { 1_000 }

    /// - Parameter start: Starts the prefetch of an item. Returns nil if there is nothing to prefetch.
    init(_ start: @escaping @MainActor (Item) -> PrefetchTask?) {
        self.start = start
    }

    /// Starts the prefetches of items. An item whose prefetch is running keeps it.
    func begin(_ items: [Item]) {
        if tasks.count >= Self.mostTasks { tasks = tasks.filter { !$0.value.isFinished } }
        for item in items where tasks[item]?.isFinished ?? true { tasks[item] = start(item) }
    }

    /// Cancels the prefetches of items. Those that have finished, and were not used, count as wasted.
    func cancel(_ items: [Item]) {
        for item in items { tasks.removeValue(forKey: item)?.cancel() }
    }
}
