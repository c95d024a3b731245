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
        private let synchronizer: Synchronizer
        private let transaction: Transaction
        private let content: (ResourceImagePhase) -> Content

        /// - Parameters:
        ///   - url: The image's URL; nil shows the phase `empty`.
        ///   - sizing: The size at which the image is decoded. Its `scale` is that of the image.
        ///   - processing: What happens to the decoded image, in this order, such as `[.cropToFill(size), .circle]`.
        ///   - transition: How an image appears that was not in memory. `.fade` replaces the transaction by an animation.
        ///   - showsPreviews: Whether to show previews in the phase `success`: the stored image at once, even if it is
        ///     stale, or otherwise the part that has arrived, if the format allows it. Previews cost decodes.
        ///   - synchronizer: The synchronizer that loads. It is taken when the view first appears.
        ///   - transaction: How the view changes from phase to phase, such as `Transaction(animation: .default)`.
        ///   - content: What to show in each phase.
        public init(
            url: URL?, sizing: ImageSizing = .stored, processing: [ImageProcessing] = [],
            transition: ImageTransition = .none, showsPreviews: Bool = false,
            synchronizer: Synchronizer = .shared, transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (ResourceImagePhase) -> Content
        ) {
            resource = url.map {
                ImageResource(request: URLRequest(url: $0), sizing: sizing, processing: processing)
            }
            self.showsPreviews = showsPreviews
            self.synchronizer = synchronizer
            // An image in memory is in the first frame, before any transaction.
            self.transaction =
                transition.duration.map { Transaction(animation: .easeInOut(duration: $0)) } ?? transaction
            self.content = content
        }

        /// Creates a view that shows nothing until the image has loaded, or if it fails to load.
        public init(
            url: URL?, sizing: ImageSizing = .stored, processing: [ImageProcessing] = [],
            transition: ImageTransition = .none, showsPreviews: Bool = false,
            synchronizer: Synchronizer = .shared, transaction: Transaction = Transaction()
        ) where Content == Image? {
            self.init(
                url: url, sizing: sizing, processing: processing, transition: transition, showsPreviews: showsPreviews,
                synchronizer: synchronizer, transaction: transaction
            ) { $0.image }
        }

        /// Creates a view with a placeholder, shown until the image has loaded and if it fails to load.
        public init<I: View, P: View>(
            url: URL?, sizing: ImageSizing = .stored, processing: [ImageProcessing] = [],
            transition: ImageTransition = .none, showsPreviews: Bool = false,
            synchronizer: Synchronizer = .shared, transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (Image) -> I, @ViewBuilder placeholder: @escaping () -> P
        ) where Content == _ConditionalContent<I, P> {
            self.init(
                url: url, sizing: sizing, processing: processing, transition: transition, showsPreviews: showsPreviews,
                synchronizer: synchronizer, transaction: transaction
            ) { phase in
                if let image = phase.image { content(image) } else { placeholder() }
            }
        }

        /// The content of the current phase.
        public var body: some View {
            ResourceView(
                resource, showsPreviews: showsPreviews, synchronizer: synchronizer, transaction: transaction
            ) { phase in
                content(ResourceImagePhase(phase))
            }
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
