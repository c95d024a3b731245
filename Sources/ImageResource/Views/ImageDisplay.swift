public import Foundation
public import Synchronizer

/// A view that shows an image and can load it: `UIImageView`, `NSImageView`, or one of your own.
///
/// ```swift
/// cell.imageView.loadImage(url, placeholder: grey)
/// ```
@MainActor
public protocol ImageDisplay: AnyObject {
    /// What is shown.
    var image: PlatformImage? { get set }

    /// How large an image has to be for the view, by its bounds, its content mode and its screen.
    var imageSizing: ImageSizing { get }

    /// The loads of this view: a constant of its own.
    var imageLoads: ImageLoads { get }
}

extension ImageDisplay {
    /// Loads an image and shows it, in place of what was shown or asked for before.
    ///
    /// An image in memory is shown before this returns; a load that is still under way for the view is cancelled, so
    /// that a cell which is used again never shows the wrong image.
    ///
    /// - Parameters:
    ///   - url: nil shows the placeholder.
    ///   - placeholder: shown until the image is there; nil shows nothing.
    ///   - failureImage: shown if the image cannot be loaded; nil leaves the placeholder.
    ///   - sizing: how large it is decoded; nil takes what the view shows, as far as its layout is known.
    ///   - showsPreviews: whether to show what there is until the image is there: the stored image at once, though it may
    ///     be stale; else what has arrived, if its format allows it, which costs decodes.
    ///   - synchronizer: what loads.
    public func loadImage(
        _ url: URL?, placeholder: PlatformImage? = nil, failureImage: PlatformImage? = nil,
        sizing: ImageSizing? = nil, showsPreviews: Bool = false, synchronizer: Synchronizer = .shared
    ) {
        imageLoads.load(
            url.map { ImageResource(request: URLRequest(url: $0), sizing: sizing ?? imageSizing) },
            placeholder: placeholder, failureImage: failureImage, showsPreviews: showsPreviews,
            synchronizer: synchronizer, on: self)
    }

    /// Loads an image and shows it, as ``loadImage(_:placeholder:failureImage:sizing:showsPreviews:synchronizer:)`` with
    /// the shared synchronizer. A string that is no URL shows the error image.
    public func loadImage(urlString: String?, placeholderImage: PlatformImage?, errorImage: PlatformImage?) {
        let url = urlString.flatMap { URL(string: $0) }
        loadImage(
            url, placeholder: url == nil ? errorImage ?? placeholderImage : placeholderImage, failureImage: errorImage)
    }

    /// Gives up the load under way. What is shown stays.
    public func cancelLoad() {
        imageLoads.cancel()
    }
}

/// The loads of one ``ImageDisplay``. When it goes away, with its view, they are cancelled.
@MainActor
public final class ImageLoads {
    private var binding: ResourceBinding<ImageResource>?
    private var synchronizer: Synchronizer?
    private var placeholder: PlatformImage?
    private var failureImage: PlatformImage?

    /// None so far.
    public nonisolated init() {}

    func load(
        _ resource: ImageResource?, placeholder: PlatformImage?, failureImage: PlatformImage?, showsPreviews: Bool,
        synchronizer: Synchronizer, on display: some ImageDisplay
    ) {
        self.placeholder = placeholder
        self.failureImage = failureImage
        if binding == nil || self.synchronizer !== synchronizer {
            binding?.cancel()
            self.synchronizer = synchronizer
            binding = ResourceBinding(synchronizer: synchronizer) { [weak self, weak display] phase in
                guard let self, let display else { return }
                display.image = self.image(for: phase)
            }
        }
        binding?.load(resource, showsPreviews: showsPreviews)
        showPhase(on: display)
    }

    /// Where the binding goes on as it was, and did not have to show anything, the view may have been cleared meanwhile,
    /// as cells are before they are used again, or have got another placeholder.
    private func showPhase(on display: some ImageDisplay) {
        guard let binding else { return }
        let image = image(for: binding.phase)
        if display.image !== image { display.image = image }
    }

    func cancel() {
        binding?.cancel()
    }

    private func image(for phase: ResourceBinding<ImageResource>.Phase) -> PlatformImage? {
        switch phase {
        case .preview(let image), .success(let image): image
        case .failure: failureImage ?? placeholder
        case .empty, .loading: placeholder
        }
    }
}
