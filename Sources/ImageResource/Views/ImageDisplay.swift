public import Foundation
public import ImageCodecs
public import Synchronizer

/// A view that shows an image and can load it: `UIImageView`, `NSImageView`, `UIButton`, `NSButton`, or your own.
///
/// ```swift
/// cell.imageView.loadImage(url, placeholder: grey)
/// ```
@MainActor
public protocol ImageDisplay: AnyObject {
    /// The visible image. It is not called `image`, because subclasses of `UIButton` may have a property of that name.
    var displayedImage: PlatformImage? { get set }

    /// The size that an image needs for the view, given its bounds, content mode and screen.
    var imageSizing: ImageSizing { get }

    /// The loads of this view. Return the same object each time.
    var imageLoads: ImageLoads { get }

    /// Shows an image that was not in memory. `UIImageView` and `NSImageView` let it fade in; the default sets ``displayedImage``.
    /// - Parameters:
    ///   - image: The image.
    ///   - duration: How long it takes, in seconds.
    func fade(to image: PlatformImage, duration: TimeInterval)
}

extension ImageDisplay {
    /// Sets ``displayedImage``.
    public func fade(to image: PlatformImage, duration: TimeInterval) {
        displayedImage = image
    }

    /// Loads an image and shows it in place of the previous one.
    ///
    /// An image in memory is shown before this returns. A load that is still in flight for the view is cancelled, so a
    /// reused cell never shows the wrong image.
    ///
    /// - Parameters:
    ///   - url: The image's URL; nil shows the placeholder.
    ///   - placeholder: Shown until the image arrives; nil shows nothing.
    ///   - failureImage: Shown if the load fails; nil leaves the placeholder.
    ///   - sizing: The size at which the image is decoded; nil takes the view's size, as far as its layout is known.
    ///   - processing: What happens to the decoded image, in this order, such as `[.cropToFill, .roundedCorners(12)]`.
    ///   - transition: How an image that was not in memory appears.
    ///   - showsPreviews: Whether to show previews: the stored image at once, even if it is stale, or otherwise the part
    ///     that has arrived, if the format allows it. Previews cost decodes.
    ///   - synchronizer: The synchronizer that loads.
    public func loadImage(
        _ url: URL?, placeholder: PlatformImage? = nil, failureImage: PlatformImage? = nil,
        sizing: ImageSizing? = nil, processing: [ImageProcessing] = [], transition: ImageTransition = .none,
        showsPreviews: Bool = false, synchronizer: Synchronizer = .shared
    ) {
        imageLoads.transition = transition
        imageLoads.load(
            url.map {
                ImageResource(request: URLRequest(url: $0), sizing: sizing ?? imageSizing, processing: processing)
            },
            placeholder: placeholder, failureImage: failureImage, showsPreviews: showsPreviews,
            synchronizer: synchronizer, on: self)
    }

    /// Loads an image with your own request: with headers, a token, a cache policy.
    ///
    /// The resource says at which size the image is decoded and how it is processed. Otherwise this works like
    /// ``loadImage(_:placeholder:failureImage:sizing:processing:transition:showsPreviews:synchronizer:)``. ``imageSizing`` is the
    /// size of the view:
    ///
    /// ```swift
    /// view.loadImage(ImageResource(request: request, sizing: view.imageSizing))
    /// ```
    public func loadImage(
        _ resource: ImageResource, placeholder: PlatformImage? = nil, failureImage: PlatformImage? = nil,
        transition: ImageTransition = .none, showsPreviews: Bool = false, synchronizer: Synchronizer = .shared
    ) {
        imageLoads.transition = transition
        imageLoads.load(
            resource, placeholder: placeholder, failureImage: failureImage, showsPreviews: showsPreviews,
            synchronizer: synchronizer, on: self)
    }

    /// Loads an image and shows it, as
    /// ``loadImage(_:placeholder:failureImage:sizing:processing:transition:showsPreviews:synchronizer:)`` does, with the shared
    /// synchronizer. If the string is not a URL, the failure image is shown.
    public func loadImage(urlString: String?, placeholderImage: PlatformImage?, errorImage: PlatformImage?) {
        let url = urlString.flatMap { URL(string: $0) }
        loadImage(
            url, placeholder: url == nil ? errorImage ?? placeholderImage : placeholderImage, failureImage: errorImage)
    }

    /// Cancels the load in flight. The visible image stays.
    public func cancelLoad() {
        imageLoads.cancel()
    }
}

/// The loads of one ``ImageDisplay``. The view owns this object. When the view releases it, the loads are cancelled.
@MainActor
public final class ImageLoads {
    private var binding: ResourceBinding<ImageResource>?
    private var synchronizer: Synchronizer?
    private var placeholder: PlatformImage?
    private var failureImage: PlatformImage?
    /// How an image appears that was not in memory.
    var transition = ImageTransition.none
    /// Whether a load is starting. An image that arrives then was in memory.
    private var isStarting = false

    /// Creates the loads of one view.
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
                self.show(phase, on: display)
            }
        }
        isStarting = true
        binding?.load(resource, showsPreviews: showsPreviews)
        isStarting = false
        showPhase(on: display)
    }

    private func show(_ phase: ResourceBinding<ImageResource>.Phase, on display: some ImageDisplay) {
        if let loaded = phase.object, loaded !== display.displayedImage, let duration = transition.duration, !isStarting
        {
            display.fade(to: loaded, duration: duration)
        } else {
            display.displayedImage = image(for: phase)
        }
    }

    /// Shows the current phase even if the binding did not report a change. Before this load, the app may have cleared the
    /// view, as it does with reused cells, or the load may have another placeholder.
    private func showPhase(on display: some ImageDisplay) {
        guard let binding else { return }
        let image = image(for: binding.phase)
        if display.displayedImage !== image { display.displayedImage = image }
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

/// How a view changes from its placeholder to a loaded image. An image that was in memory appears at once.
public enum ImageTransition: Hashable, Sendable {
    /// At once.
    case none
    /// The image fades in, for this many seconds.
    case fade(TimeInterval)

    /// The seconds that it takes; nil if it takes none.
    var duration: TimeInterval? {
        guard case .fade(let seconds) = self, seconds.isFinite, seconds > 0 else { return nil }
        return seconds
    }
}
