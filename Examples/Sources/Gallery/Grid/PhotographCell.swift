import CGtk
import Foundation
import GTK
import GalleryModel
import ImageResource
import Synchronizer

/// A cell of the grid. The grid reuses it for one photograph after another.
///
/// A bound cell need not be visible: the grid keeps some two hundred cells around the visible ones. A picture in memory is shown
/// at once when the cell is bound. A load starts when the cell is mapped, and ends when it is unmapped.
@MainActor
final class PhotographCell {
    /// The space of a picture, in points.
    static let pictureSize = CGSize(width: 216, height: 162)

    enum State: Equatable {
        case empty, preview, shown, failed
    }

    // A constant. The cell holds its own reference, and GLib counts references on any thread.
    nonisolated(unsafe) let root: Widget
    private let picture = FixedPicture(pictureSize)
    private let title = Make.label(classes: "name", leading: true)
    private let credit = Make.label(classes: "author", leading: true)
    private let retryButton = FailurePicture()
    private let session: Session
    private weak var journal: (any CellJournal)?
    private(set) var photograph: Photograph?
    private(set) var state = State.empty
    /// The size of the picture that was shown last, in pixels.
    private(set) var pixelSize = CGSize.zero
    private var cancel: CancelLoading?

    init(session: Session, journal: (any CellJournal)?) {
        self.session = session
        self.journal = journal
        root = Make.column(spacing: 1, picture.root, title, credit)
        g_object_ref_sink(root)
        lay()
        retryButton.root.on("clicked") { [weak self] in self?.retry() }
        root.on("map") { [weak self] in self?.appear() }
        root.on("unmap") { [weak self] in self?.disappear() }
        root.on("notify::scale-factor") { [weak self] in self?.photograph.map { self?.bind($0) } }
    }

    deinit {
        g_object_unref(root)
    }

    private func lay() {
        gtk_widget_add_css_class(root, "photograph")
        gtk_widget_set_halign(root, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(root, GTK_ALIGN_START)
        gtk_widget_add_css_class(picture.root, "picture")
        picture.add(retryButton.root)
        for label in [title, credit] {
            gtk_label_set_ellipsize(label.opaque, PANGO_ELLIPSIZE_END)
            gtk_label_set_width_chars(label.opaque, 1)
            gtk_label_set_max_width_chars(label.opaque, 1)  // as wide as the picture
            gtk_widget_set_hexpand(label, 0)
        }
    }

    /// Whether the cell is visible, as far as the grid knows.
    var isVisible: Bool { photograph != nil && root.isMapped }

    /// The middle of the failure button, in the window, for a click.
    var retryPlace: (x: Double, y: Double)? { WindowPicture.middle(of: retryButton.root) }

    /// The pixels drawn in the place of the picture.
    var drawnPicture: BitmapImage? { WindowPicture.of(picture.root) }

    // MARK: Called by the grid

    func bind(_ photograph: Photograph) {
        unbind()
        self.photograph = photograph
        gtk_label_set_text(title.opaque, photograph.item.title)
        gtk_label_set_text(credit.opaque, photograph.item.credit)
        picture.describe(as: photograph.item.alternativeText)
        root.describe(as: "\(photograph.item.title). \(photograph.item.alternativeText)")
        if root.isMapped { appear() } else { showFromMemory(photograph) }
    }

    func unbind() {
        if root.isMapped { disappear() } else { stop() }
        photograph = nil
        change(to: .empty)
        picture.show(nil)
    }

    private func appear() {
        guard let photograph, cancel == nil else { return }
        if state != .shown { showFromMemory(photograph) }
        let now = g_get_monotonic_time()
        if state == .shown {
            journal?.cellAppeared(self, at: now)
            return
        }
        // During a layout, GTK maps many cells for a moment that never become visible.
        MainLoop.afterFrame { [weak self] in
            guard let self, self.photograph == photograph, isVisible, cancel == nil, state != .shown else { return }
            journal?.cellAppeared(self, at: now)
            load(photograph)
        }
    }

    private func showFromMemory(_ photograph: Photograph) {
        guard session.baseline != .decodeOnMain,
            let image = session.synchronizer.cachedObject(for: resource(photograph))
        else { return }
        show(.image(image))
    }

    private func disappear() {
        stop()
        if photograph != nil { journal?.cellDisappeared(self) }
    }

    // MARK: Loading

    /// Loads the picture again if it has failed. Returns whether it had.
    @discardableResult
    func retry() -> Bool {
        guard state == .failed, let photograph else { return false }
        change(to: .empty)
        load(photograph)
        return true
    }

    /// Loads the picture again, and keeps showing the current one.
    func refresh() {
        guard let photograph else { return }
        stop()
        load(photograph)
    }

    private func load(_ photograph: Photograph) {
        var isAnswered = false
        let cancel = session.follow(resource(photograph)) { [weak self] step in
            guard let self, self.photograph == photograph else { return }
            if case .preview = step {
            } else {
                isAnswered = true
                self.cancel = nil
            }
            show(step)
        }
        if !isAnswered { self.cancel = cancel }
    }

    private func stop() {
        cancel?()
        cancel = nil
    }

    private func resource(_ photograph: Photograph) -> ImageResource {
        session.thumbnail(of: photograph, covering: Self.pictureSize, scale: root.scale)
    }

    // MARK: Showing

    private func show(_ step: PictureStep) {
        switch step {
        case .preview(let image):
            if state == .empty || state == .preview { show(image, as: .preview) }
        case .image(let image):
            show(image, as: .shown)
            journal?.cellShowed(self)
        case .failure:
            // A stored picture that could not be refreshed is better than none.
            if state == .shown { return }
            picture.show(nil)
            change(to: .failed)
            journal?.cellShowed(self)
        }
    }

    private func show(_ image: BitmapImage, as state: State) {
        pixelSize = CGSize(width: image.width, height: image.height)
        picture.show(Texture(image), fills: session.baseline != .fullSize)
        change(to: state)
    }

    private func change(to state: State) {
        self.state = state
        gtk_widget_set_visible(retryButton.root, state == .failed ? 1 : 0)
    }
}
