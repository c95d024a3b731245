#if Valkey && canImport(CHiredis)
    import Foundation

    extension ValkeyURLCache {
        /// How a shared cache behaves.
        public struct Options: Hashable, Sendable {
            /// The most seconds that a call waits for the server. They include the transfer of a body: 1 MB takes about 9 ms at
            /// 1 Gbit/s. A load can make six calls: it looks up, gets a large body, takes a lease, looks up again if another
            /// process has just had the lease, and stores, or after a 304 reads and updates. It makes more if entries change in
            /// between. A removal may also wait as long for the removals of other threads.
            public var longestWait: TimeInterval = 0.02
            /// The size of the largest bodies that are shared, in bytes. Each machine keeps larger bodies for itself. Values
            /// above 16 MB count as 16 MB. If you raise it, raise ``longestWait``, too.
            public var largestSharedBody = 1 << 20
            /// Seconds for which the server keeps a response after its lifetime, so that it can be validated, or used when its
            /// origin cannot be reached. If the response itself gives a longer period (`stale-while-revalidate`,
            /// `stale-if-error`), that period counts. Nothing is kept for more than 30 days.
            public var staleRetention: TimeInterval = 7 * 86_400

            /// Creates the default options.
            public init() {}

            /// Half of the largest reply, in bytes. The other half is for the entries of the URL.
            private static let maximumSharedBody = 16 << 20

            var limits: SharedLevel.Limits {
                SharedLevel.Limits(
                    wait: longestWait, sharedBody: max(0, min(largestSharedBody, Self.maximumSharedBody)),
                    staleRetention: staleRetention)
            }
        }
    }
#endif
