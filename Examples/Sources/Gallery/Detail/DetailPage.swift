import CGtk
import Foundation
import GTK
import GalleryModel
import ImageResource
import Synchronizer

/// One photograph, fitted into the page, or zoomed and scrolled.
@MainActor
final class DetailPage {
    let root: Widget
    private let scroller: Widget = gtk_scrolled_window_new()
    private let picture = FixedPicture(CGSize(width: 1, height: 1))
    private let caption = CaptionBar()
    private let failure = FailurePicture()
    private let session: Session
    private var photographs: [Photograph] = []
    private(set) var position = 0
    /// Device pixels per stored pixel; nil fits the photograph into the page.
    private var zoom: Double?
    private var fittedSpace = CGSize.zero
    private var cancelLoading: CancelLoading = {}
    private var prefetch: PrefetchTask?
    /// Whether the final picture is shown.
    private(set) var isComplete = false
    /// Called when another photograph is shown.
    var changed: @MainActor () -> Void = {}

    init(session: Session) {
        self.session = session
        let overlay: Widget = gtk_overlay_new()
        gtk_scrolled_window_set_child(scroller.opaque, picture.root)
        gtk_overlay_set_child(overlay.opaque, scroller)
        gtk_widget_set_vexpand(overlay, 1)
        gtk_widget_set_hexpand(overlay, 1)
        root = Make.column(overlay, caption.root)
        gtk_widget_add_css_class(root, "detail")
        lay(over: overlay)
        caption.zoomChosen = { [weak self] in self?.zoom($0) }
        failure.root.on("clicked") { [weak self] in self?.load() }
        root.on("notify::scale-factor") { [weak self] in self?.load() }
        for adjustment in [
            gtk_scrolled_window_get_hadjustment(scroller.opaque), gtk_scrolled_window_get_vadjustment(scroller.opaque),
        ] {
            adjustment?.on("notify::page-size") { [weak self] in self?.spaceChanged() }
        }
        scroller.onControlScroll { [weak self] down in self?.zoom(down < 0 ? .larger : .smaller) }
    }

    private func lay(over overlay: Widget) {
        let previous = Make.button(icon: "go-previous-symbolic", "Previous photograph") { [weak self] in
            self?.go(by: -1)
        }
        let next = Make.button(icon: "go-next-symbolic", "Next photograph") { [weak self] in self?.go(by: 1) }
        for (button, side) in [(previous, GTK_ALIGN_START), (next, GTK_ALIGN_END)] {
            gtk_widget_set_halign(button, side)
            gtk_widget_set_valign(button, GTK_ALIGN_CENTER)
            for name in ["circular", "osd", "neighbour"] { gtk_widget_add_css_class(button, name) }
            gtk_overlay_add_overlay(overlay.opaque, button)
        }
        gtk_widget_set_halign(failure.root, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(failure.root, GTK_ALIGN_CENTER)
        gtk_overlay_add_overlay(overlay.opaque, failure.root)
    }

    // MARK: Navigation

    var photograph: Photograph? { photographs.indices.contains(position) ? photographs[position] : nil }

    func show(_ position: Int, of photographs: [Photograph]) {
        self.photographs = photographs
        self.position = position
        zoom = nil
        isComplete = false
        showThumbnail()
        load()
        changed()
    }

    func go(by step: Int) {
        guard photographs.indices.contains(position + step) else { return }
        show(position + step, of: photographs)
    }

    /// Called when the user leaves the page.
    func leave() {
        cancelLoading()
        prefetch?.cancel()
        picture.show(nil)
        photographs = []
    }

    // MARK: Zoom

    enum Zoom {
        case larger, smaller, fitted, full
    }

    func zoom(_ change: Zoom) {
        let steps = [0.25, 0.5, 1, 1.5, 2, 3, 4]
        let now = zoom ?? caption.zoom ?? 1
        let before = zoom
        switch change {
        case .fitted: zoom = nil
        case .full: zoom = 1
        case .larger: zoom = steps.first { $0 > now + 0.01 } ?? now
        case .smaller: zoom = steps.last { $0 < now - 0.01 } ?? now
        }
        if zoom != before { load() }
    }

    /// Whether the picture is larger than the page, so that the arrow keys scroll.
    var isZoomed: Bool { zoom != nil }

    // MARK: Loading

    private var space: CGSize {
        CGSize(width: Int(gtk_widget_get_width(scroller)), height: Int(gtk_widget_get_height(scroller)))
    }

    private func spaceChanged() {
        guard photograph != nil, zoom == nil, space != fittedSpace else { return }
        load()
    }

    private func showThumbnail() {
        guard let photograph else { return }
        let thumbnail = session.thumbnail(of: photograph, covering: PhotographCell.pictureSize, scale: root.scale)
        picture.show(nil)
        guard let image = session.synchronizer.cachedObject(for: thumbnail), space.width > 1 else { return }
        // The thumbnail is cropped. It covers the space that the whole picture will take.
        let (width, height) = (photograph.item.width ?? image.width, photograph.item.height ?? image.height)
        guard width > 0, height > 0 else { return }
        let factor = min(space.width / CGFloat(width), space.height / CGFloat(height))
        picture.resize(to: CGSize(width: CGFloat(width) * factor, height: CGFloat(height) * factor))
        picture.show(Texture(image), fills: false)
    }

    private func load() {
        cancelLoading()
        prefetch?.cancel()
        gtk_widget_set_visible(failure.root, 0)
        guard let photograph, space.width > 1 else { return }  // before the layout; `spaceChanged` follows
        fittedSpace = space
        isComplete = false
        cancelLoading = session.follow(resource(photograph)) { [weak self] step in
            switch step {
            case .preview(let image): self?.show(image)
            case .image(let image):
                self?.show(image)
                self?.isComplete = true
                self?.prefetchNeighbours()
            case .failure: self?.fail()
            }
        }
    }

    private func resource(_ photograph: Photograph) -> ImageResource {
        session.picture(of: photograph, fitting: zoom == nil ? space : nil, scale: root.scale)
    }

    private func prefetchNeighbours() {
        let neighbours = [position + 1, position - 1].filter(photographs.indices.contains)
        prefetch = session.synchronizer.prefetch(neighbours.map { resource(photographs[$0]) })
    }

    private func fail() {
        isComplete = true
        gtk_widget_set_visible(failure.root, 1)
    }

    // MARK: Showing

    private func show(_ image: BitmapImage) {
        guard let photograph else { return }
        let scale = root.scale
        if let zoom {
            picture.resize(to: image.space(zoom: zoom, scale: scale))
            picture.show(Texture(image))
        } else {
            // The space has whole points. A fraction of a point is cut off, so nothing is scaled.
            let (width, height) = (image.width / scale * scale, image.height / scale * scale)
            picture.resize(to: CGSize(width: width / scale, height: height / scale))
            picture.show(Texture(image, width: width, height: height))
        }
        let stored = photograph.item.width ?? image.width
        caption.show(photograph, zoom: zoom ?? Double(image.width) / Double(max(stored, 1)))
        picture.describe(as: photograph.item.alternativeText)
    }
}

extension BitmapImage {
    /// The size in points at a given number of device pixels per pixel.
    fileprivate func space(zoom: Double, scale: Int) -> CGSize {
        CGSize(
            width: (Double(width) * zoom / Double(scale)).rounded(),
            height: (Double(height) * zoom / Double(scale)).rounded())
    }
}
