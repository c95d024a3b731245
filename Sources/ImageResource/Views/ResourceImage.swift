#if canImport(SwiftUI)
    public import Foundation
    public import SwiftUI
    public import ImageCodecs
    public import Synchronizer

    /// A view of an image at a URL, similar to `AsyncImage`. It loads through a `Synchronizer` and its cache.
    ///
    /// ```swift
    /// ResourceImage(url: url, sizing: .maxPixelSize(400)) { image in
    ///     image.resizable().scaledToFit()
    /// } placeholder: {
    ///     ProgressView()
    /// }
    /// ```
    ///
    /// Set `sizing` to the size at which you show the image. Otherwise it is decoded at its stored size, which takes some
    /// fifty megabytes for a photograph. An image in memory appears in the first frame. The load is cancelled when the view
    /// disappears.
    public struct ResourceImage<Content: View>: View {
        private let resource: ImageResource?
        private let showsPreviews: Bool
        private let synchronizer: Synchronizer?
        private let transaction: Transaction
        private let content: (ResourceImagePhase, _ retry: @escaping @MainActor () -> Void) -> Content

        /// Creates a view of an image with your own request: with headers, a token, a cache policy.
        ///
        /// - Parameters:
        ///   - resource: The image; nil shows the phase `empty`.
        ///   - transition: How an image that was not in memory appears. `.fade` replaces the transaction by an animation.
        ///   - showsPreviews: Whether to show previews in the phase `success`: the stored image at once, even if it is
        ///     stale, or otherwise the part that has arrived, if the format allows it. Previews cost decodes.
        ///   - synchronizer: The synchronizer that loads; nil for that of the environment. If it changes, the view loads again.
        ///   - transaction: How the view changes from phase to phase, such as `Transaction(animation: .default)`.
        ///   - content: What to show in each phase, and an action that loads again after a failure.
        public init(
            _ resource: ImageResource?, transition: ImageTransition = .none, showsPreviews: Bool = false,
            synchronizer: Synchronizer? = nil, transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (ResourceImagePhase, _ retry: @escaping @MainActor () -> Void) -> Content
        ) {
            self.resource = resource
            self.showsPreviews = showsPreviews
            self.synchronizer = synchronizer
            // An image in memory is in the first frame, before any transaction.
            self.transaction =
                transition.duration.map { Transaction(animation: .easeInOut(duration: $0)) } ?? transaction
            self.content = content
        }

        /// Creates a view of an image with your own request, whose content does not offer to load again.
        public init(
            _ resource: ImageResource?, transition: ImageTransition = .none, showsPreviews: Bool = false,
            synchronizer: Synchronizer? = nil, transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (ResourceImagePhase) -> Content
        ) {
            self.init(
                resource, transition: transition, showsPreviews: showsPreviews, synchronizer: synchronizer,
                transaction: transaction
            ) { phase, _ in content(phase) }
        }

        /// Creates a view that shows nothing until the image has loaded, or if it fails to load.
        public init(
            _ resource: ImageResource?, transition: ImageTransition = .none, showsPreviews: Bool = false,
            synchronizer: Synchronizer? = nil, transaction: Transaction = Transaction()
        ) where Content == Image? {
            self.init(
                resource, transition: transition, showsPreviews: showsPreviews, synchronizer: synchronizer,
                transaction: transaction
            ) { phase, _ in phase.image }
        }

        /// Creates a view with a placeholder, shown until the image has loaded and if it fails to load.
        public init<I: View, P: View>(
            _ resource: ImageResource?, transition: ImageTransition = .none, showsPreviews: Bool = false,
            synchronizer: Synchronizer? = nil, transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (Image) -> I, @ViewBuilder placeholder: @escaping () -> P
        ) where Content == _ConditionalContent<I, P> {
            self.init(
                resource, transition: transition, showsPreviews: showsPreviews, synchronizer: synchronizer,
                transaction: transaction
            ) { phase, _ in
                if let image = phase.image { content(image) } else { placeholder() }
            }
        }

        /// The content of the current phase.
        public var body: some View {
            ResourceView(
                resource, showsPreviews: showsPreviews, synchronizer: synchronizer, transaction: transaction
            ) { phase, retry in
                content(ResourceImagePhase(phase), retry)
            }
        }
    }

    extension ResourceImage {
        /// Creates a view of the image at a URL.
        ///
        /// - Parameters:
        ///   - url: The image's URL; nil shows the phase `empty`.
        ///   - sizing: The size at which the image is decoded. Its `scale` is that of the image.
        ///   - processing: What happens to the decoded image, in this order, such as `[.cropToFill(size), .circle]`. A
        ///     `.cropToFill` without a size crops to the space of `sizing`. With the default, `.stored`, there is none, so it
        ///     does nothing: this view, unlike `UIImageView`, does not know its size before it loads.
        ///   - transition: How an image that was not in memory appears. `.fade` replaces the transaction by an animation.
        ///   - showsPreviews: Whether to show previews in the phase `success`: the stored image at once, even if it is
        ///     stale, or otherwise the part that has arrived, if the format allows it. Previews cost decodes.
        ///   - synchronizer: The synchronizer that loads; nil for that of the environment. If it changes, the view loads again.
        ///   - transaction: How the view changes from phase to phase, such as `Transaction(animation: .default)`.
        ///   - content: What to show in each phase, and an action that loads again after a failure.
        public init(
            url: URL?, sizing: ImageSizing = .stored, processing: [ImageProcessing] = [],
            transition: ImageTransition = .none, showsPreviews: Bool = false, synchronizer: Synchronizer? = nil,
            transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (ResourceImagePhase, _ retry: @escaping @MainActor () -> Void) -> Content
        ) {
            self.init(
                ImageResource(url, sizing: sizing, processing: processing), transition: transition,
                showsPreviews: showsPreviews,
                synchronizer: synchronizer, transaction: transaction, content: content)
        }

        /// Creates a view of the image at a URL, whose content does not offer to load again.
        public init(
            url: URL?, sizing: ImageSizing = .stored, processing: [ImageProcessing] = [],
            transition: ImageTransition = .none, showsPreviews: Bool = false, synchronizer: Synchronizer? = nil,
            transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (ResourceImagePhase) -> Content
        ) {
            self.init(
                ImageResource(url, sizing: sizing, processing: processing), transition: transition,
                showsPreviews: showsPreviews,
                synchronizer: synchronizer, transaction: transaction, content: content)
        }

        /// Creates a view that shows nothing until the image has loaded, or if it fails to load.
        public init(
            url: URL?, sizing: ImageSizing = .stored, processing: [ImageProcessing] = [],
            transition: ImageTransition = .none, showsPreviews: Bool = false, synchronizer: Synchronizer? = nil,
            transaction: Transaction = Transaction()
        ) where Content == Image? {
            self.init(
                ImageResource(url, sizing: sizing, processing: processing), transition: transition,
                showsPreviews: showsPreviews,
                synchronizer: synchronizer, transaction: transaction)
        }

        /// Creates a view with a placeholder, shown until the image has loaded and if it fails to load.
        public init<I: View, P: View>(
            url: URL?, sizing: ImageSizing = .stored, processing: [ImageProcessing] = [],
            transition: ImageTransition = .none, showsPreviews: Bool = false, synchronizer: Synchronizer? = nil,
            transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (Image) -> I, @ViewBuilder placeholder: @escaping () -> P
        ) where Content == _ConditionalContent<I, P> {
            self.init(
                ImageResource(url, sizing: sizing, processing: processing), transition: transition,
                showsPreviews: showsPreviews,
                synchronizer: synchronizer, transaction: transaction, content: content, placeholder: placeholder)
        }
    }

    extension ImageResource {
        fileprivate init?(_ url: URL?, sizing: ImageSizing, processing: [ImageProcessing]) {
            guard let url else { return nil }
            self.init(request: URLRequest(url: url), sizing: sizing, processing: processing)
        }
    }

    /// What a ``ResourceImage`` shows.
    public enum ResourceImagePhase: Sendable {
        /// There is no image yet.
        case empty
        /// The image, or its preview if previews are shown.
        case success(Image)
        /// Why there is no image.
        case failure(any Error)

        /// The image, if there is one.
        public var image: Image? {
            if case .success(let image) = self { image } else { nil }
        }

        /// The error, if there is one.
        public var error: (any Error)? {
            if case .failure(let error) = self { error } else { nil }
        }

        init(_ phase: ResourceBinding<ImageResource>.Phase) {
            switch phase {
            case .empty, .loading: self = .empty
            case .preview(let image), .success(let image): self = .success(Image(platformImage: image))
            case .failure(let error): self = .failure(error)
            }
        }
    }

    extension Image {
        #if canImport(UIKit)
            nonisolated init(platformImage: PlatformImage) { self.init(uiImage: platformImage) }
        #else
            nonisolated init(platformImage: PlatformImage) { self.init(nsImage: platformImage) }
        #endif
    }
#endif
