#if canImport(SwiftUI)
    public import Foundation
    public import SwiftUI
    public import Synchronizer

    /// A view of an image at a URL, in the manner of `AsyncImage`: through a `Synchronizer`, with its cache.
    ///
    /// ```swift
    /// ResourceImage(url: url, sizing: .maxPixelSize(400)) { image in
    ///     image.resizable().scaledToFit()
    /// } placeholder: {
    ///     ProgressView()
    /// }
    /// ```
    ///
    /// Say how large it is shown: without `sizing` the image is decoded as large as it is stored, which for a photograph is
    /// some fifty megabytes. An image that is in memory is there in the first frame. The load is cancelled when the view disappears.
    public struct ResourceImage<Content: View>: View {
        private let resource: ImageResource?
        private let showsPreviews: Bool
        private let synchronizer: Synchronizer
        private let transaction: Transaction
        private let content: (ResourceImagePhase) -> Content

        /// - Parameters:
        ///   - url: nil shows the phase `empty`.
        ///   - sizing: how large the image is decoded; its `scale` is that of the image.
        ///   - showsPreviews: whether to show what there is until the image is there, in the phase `success`, too: the
        ///     stored image at once, though it may be stale; else what has arrived, if its format allows it, which costs decodes.
        ///   - synchronizer: what loads; it is taken when the view first appears.
        ///   - transaction: how the view changes from phase to phase, such as `Transaction(animation: .default)`.
        ///   - content: what is shown in each phase.
        public init(
            url: URL?, sizing: ImageSizing = .stored, showsPreviews: Bool = false,
            synchronizer: Synchronizer = .shared, transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (ResourceImagePhase) -> Content
        ) {
            resource = url.map { ImageResource(request: URLRequest(url: $0), sizing: sizing) }
            self.showsPreviews = showsPreviews
            self.synchronizer = synchronizer
            self.transaction = transaction
            self.content = content
        }

        /// An image as large as it is stored, or as `sizing` says, and nothing until it is there, or if it cannot be loaded.
        public init(
            url: URL?, sizing: ImageSizing = .stored, showsPreviews: Bool = false,
            synchronizer: Synchronizer = .shared, transaction: Transaction = Transaction()
        ) where Content == Image? {
            self.init(
                url: url, sizing: sizing, showsPreviews: showsPreviews, synchronizer: synchronizer,
                transaction: transaction
            ) { $0.image }
        }

        /// An image, with what is shown until it is there, and if it cannot be loaded.
        public init<I: View, P: View>(
            url: URL?, sizing: ImageSizing = .stored, showsPreviews: Bool = false,
            synchronizer: Synchronizer = .shared, transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (Image) -> I, @ViewBuilder placeholder: @escaping () -> P
        ) where Content == _ConditionalContent<I, P> {
            self.init(
                url: url, sizing: sizing, showsPreviews: showsPreviews, synchronizer: synchronizer,
                transaction: transaction
            ) { phase in
                if let image = phase.image { content(image) } else { placeholder() }
            }
        }

        /// The content of the present phase.
        public var body: some View {
            ResourceView(
                resource, showsPreviews: showsPreviews, synchronizer: synchronizer, transaction: transaction
            ) { phase in
                content(ResourceImagePhase(phase))
            }
        }
    }

    /// What a ``ResourceImage`` is to show.
    public enum ResourceImagePhase: Sendable {
        /// There is no image yet.
        case empty
        /// The image; where previews are shown, what there is of it so far.
        case success(Image)
        /// Why there is none.
        case failure(any Error)

        /// The image, if there is one.
        public var image: Image? {
            if case .success(let image) = self { image } else { nil }
        }

        /// Why there is none, if that is known.
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
#endif
