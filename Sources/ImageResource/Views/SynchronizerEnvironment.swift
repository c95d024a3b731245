#if canImport(SwiftUI)
    public import SwiftUI
    public import Synchronizer

    extension EnvironmentValues {
        /// The synchronizer that views in this environment use, unless you pass them another. The default is
        /// `Synchronizer.shared`.
        ///
        /// ```swift
        /// PhotoList().environment(\.synchronizer, synchronizer)
        /// ```
        public var synchronizer: Synchronizer {
            get { self[SynchronizerKey.self] }
            set { self[SynchronizerKey.self] = newValue }
        }
    }

    private struct SynchronizerKey: EnvironmentKey {
        static var defaultValue: Synchronizer { .shared }
    }
#endif
