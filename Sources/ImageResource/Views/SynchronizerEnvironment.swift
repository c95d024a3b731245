#if canImport(SwiftUI)
    public import SwiftUI
    public import Synchronizer

    extension EnvironmentValues {
        /// The synchronizer of all views in this environment to which you pass none. By default `Synchronizer.shared`.
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
