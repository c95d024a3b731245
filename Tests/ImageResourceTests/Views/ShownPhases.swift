#if !canImport(ImageIO)
    import Synchronizer
    import TestSupport

    @testable import ImageResource

    /// A binding, and all that it was told to show.
    @MainActor
    final class Shown<R: Resource> {
        typealias Phase = ResourceBinding<R>.Phase

        let phases = Collector<Phase>()
        private(set) var binding: ResourceBinding<R>?
        var react: (Phase) -> Void = { _ in }

        init(_ synchronizer: Synchronizer) {
            binding = ResourceBinding(synchronizer: synchronizer) { [weak self] phase in
                self?.phases.append(phase)
                self?.react(phase)
            }
        }

        func load(_ resource: R?, showsPreviews: Bool = true) {
            binding?.load(resource, showsPreviews: showsPreviews)
        }

        func release() { binding = nil }

        var names: [String] { phases.elements.map(\.name) }

        /// Returns the names of all that was shown, once one of them is that of an end.
        func end(of count: Int = 1) async throws -> [String] {
            try await waitUntil("\(count) answers") {
                names.filter { $0 == "success" || $0 == "failure" }.count >= count
            }
            return names
        }
    }

    /// Hears of loads that are given up.
    final class GivenUp: SynchronizerObserver {
        let paths = Collector<String>()

        func synchronizerDid(_ event: SynchronizerEvent) {
            if case .cancelled = event.kind { paths.append(event.url?.path ?? "") }
        }
    }

    extension ResourceBinding.Phase {
        var name: String {
            switch self {
            case .empty: "empty"
            case .loading: "loading"
            case .preview: "preview"
            case .success: "success"
            case .failure: "failure"
            }
        }
    }

#endif
