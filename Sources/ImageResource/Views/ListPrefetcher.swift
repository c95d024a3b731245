#if canImport(UIKit) && !os(watchOS)
    public import Synchronizer
    public import UIKit

    /// Prefetches what a collection view or a table view is about to show, and cancels what it no longer needs.
    ///
    /// ```swift
    /// prefetcher = ListPrefetcher { path in ImageResource(url: photos[path.item].url, maxPixelSize: 400) }
    /// collectionView.prefetchDataSource = prefetcher
    /// ```
    ///
    /// The list does not retain the prefetcher, so retain it yourself. Prefetch the same resource that the cell loads: the same
    /// URL, headers and size.
    @MainActor
    public final class ListPrefetcher: NSObject, UICollectionViewDataSourcePrefetching,
        UITableViewDataSourcePrefetching
    {
        private let prefetches: ItemPrefetches<IndexPath>

        /// - Parameters:
        ///   - synchronizer: The synchronizer that loads.
        ///   - destination: Whether to parse into memory, or only to store responses.
        ///   - resource: The resource at an index path; nil if there is nothing to prefetch.
        public init<R: Resource>(
            synchronizer: Synchronizer = .shared, to destination: Synchronizer.PrefetchDestination = .memory,
            resource: @escaping @MainActor (IndexPath) -> R?
        ) {
            prefetches = ItemPrefetches(of: resource) { resource, identity in
                synchronizer.prefetch(identified: [(resource, identity)], to: destination)
            }
            super.init()
        }

        /// Starts prefetches.
        public func collectionView(_ collectionView: UICollectionView, prefetchItemsAt indexPaths: [IndexPath]) {
            prefetches.begin(indexPaths)
        }

        /// Cancels prefetches.
        public func collectionView(
            _ collectionView: UICollectionView, cancelPrefetchingForItemsAt indexPaths: [IndexPath]
        ) {
            prefetches.cancel(indexPaths)
        }

        /// Starts prefetches.
        public func tableView(_ tableView: UITableView, prefetchRowsAt indexPaths: [IndexPath]) {
            prefetches.begin(indexPaths)
        }

        /// Cancels prefetches.
        public func tableView(_ tableView: UITableView, cancelPrefetchingForRowsAt indexPaths: [IndexPath]) {
            prefetches.cancel(indexPaths)
        }
    }
#endif
