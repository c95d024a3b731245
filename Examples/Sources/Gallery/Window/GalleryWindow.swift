import CGtk
import Foundation
import GTK
import GalleryModel
import Synchronizer

/// The window, with the grid or one photograph, the header bar, and the inspector.
@MainActor
final class GalleryWindow {
    let window: Widget
    let session: Session
    let grid: PhotographGrid
    let detail: DetailPage
    let frames: FrameWatch
    private(set) var inspector: Inspector
    private let notice = Notice()
    private let pages: Widget = gtk_stack_new()
    private(set) var header: HeaderBar?
    private var state: SavedState
    private let stateFile: URL?
    private var feed: Feed?
    private(set) var photographs: [Photograph] = []
    private var cancelFeed: CancelLoading = {}
    private var hasRestoredScroll = false

    /// - Parameter stateFile: the file for size, order and scroll position; nil saves nothing.
    init(application: OpaquePointer?, session: Session, state: SavedState, stateFile: URL?, journal: (any CellJournal)?)
    {
        self.session = session
        self.state = state
        self.stateFile = stateFile
        window = gtk_application_window_new(application?.cast())
        grid = PhotographGrid(session: session)
        grid.journal = journal
        detail = DetailPage(session: session)
        let frames = FrameWatch(window)
        self.frames = frames
        inspector = Inspector { session.listener.figures.rows + frames.rows }
        lay()
        listen()
    }

    func open() {
        gtk_window_present(window.cast())
        load()
    }

    // MARK: Layout

    private func lay() {
        let overlay: Widget = gtk_overlay_new()
        gtk_stack_add_named(pages.opaque, grid.root, "grid")
        gtk_stack_add_named(pages.opaque, detail.root, "detail")
        gtk_stack_set_transition_type(pages.opaque, GTK_STACK_TRANSITION_TYPE_CROSSFADE)
        gtk_overlay_set_child(overlay.opaque, pages)
        gtk_overlay_add_overlay(overlay.opaque, notice.root)
        let content = Make.row(overlay, inspector.root)
        inspector.isOpen = state.showsInspector
        let header = HeaderBar(state, isOffline: session.isOffline, isDark: isDark, actions)
        self.header = header
        gtk_widget_add_css_class(window, "gallery")
        gtk_window_set_title(window.cast(), "Gallery")
        gtk_window_set_titlebar(window.cast(), header.root)
        gtk_window_set_child(window.cast(), content)
        gtk_window_set_default_size(window.cast(), Int32(state.width), Int32(state.height))
        Appearance.setDark(isDark)
    }

    private var isDark: Bool {
        switch state.theme {
        case .system: Appearance.systemPrefersDark
        case .light: false
        case .dark: true
        }
    }

    private func listen() {
        grid.activated = { [weak self] in self?.openDetail($0) }
        grid.onScroll { [weak frames] in frames?.moves() }
        detail.changed = { [weak self] in self?.showTitle() }
        window.onKey { [weak self] in self?.take($0) ?? false }
        window.onRequest("close-request") { [weak self] in
            self?.save()
            return false
        }
    }

    // MARK: The feed

    /// Shows the stored list, and then the server's.
    func load() {
        cancelFeed()
        cancelFeed = session.synchronizer.followResource(session.feed) { [weak self] result in
            switch result {
            case .success(let update): self?.take(update)
            case .failure(let error): self?.notice.show(Self.words(for: error))
            }
        }
    }

    private func take(_ update: ResourceUpdate<Feed>) {
        guard update.object != feed else { return }
        feed = update.object
        arrange()
        guard !hasRestoredScroll else { return }
        hasRestoredScroll = true
        grid.restore(scroll: state.scroll)
        grid.takeFocus()
    }

    /// Shows the photographs in the chosen order.
    private func arrange() {
        photographs = state.order.sorted(feed?.photographs(from: session.feedURL) ?? [])
        grid.show(photographs)
        showTitle()
    }

    private static func words(for error: SynchronizerError) -> String {
        if case .notCached = error { return "You are offline, and the list of photographs is not stored" }
        return "The list of photographs could not be refreshed"
    }

    private func showTitle() {
        if isDetail, let photograph = detail.photograph {
            let place = "\(detail.position + 1) of \(photographs.count)"
            header?.show(title: photograph.item.title, subtitle: place, isDetail: true)
        } else {
            let count = photographs.isEmpty ? "" : "\(photographs.count) photographs"
            let subtitle = [count, session.isOffline ? "offline" : ""].filter { !$0.isEmpty }.joined(separator: ", ")
            header?.show(title: feed?.title ?? "Gallery", subtitle: subtitle, isDetail: false)
        }
    }

    // MARK: Actions of the header bar

    private var actions: HeaderBar.Actions {
        .init(
            back: { [weak self] in self?.closeDetail() }, reload: { [weak self] in self?.reload() },
            clear: { [weak self] in self?.clearCache() }, sort: { [weak self] in self?.sort($0) },
            setOffline: { [weak self] in self?.setOffline($0) },
            setInspector: { [weak self] isOn in
                self?.state.showsInspector = isOn
                self?.inspector.isOpen = isOn
            },
            setDark: { [weak self] isOn in
                self?.state.theme = isOn ? .dark : .light
                Appearance.setDark(isOn)
            })
    }

    /// Revalidates the list and all visible photographs.
    func reload() {
        load()
        session.revalidating { grid.visibleCells.forEach { $0.refresh() } }
    }

    private func clearCache() {
        let synchronizer = session.synchronizer
        Task {
            await Task.detached { synchronizer.removeAll() }.value  // it blocks on the disk
            notice.show("The cache is empty")
            load()
            grid.reload()
        }
    }

    private func sort(_ order: Arrangement) {
        state.order = order
        grid.scroll = 0
        arrange()
    }

    func setOffline(_ isOffline: Bool) {
        session.isOffline = isOffline
        showTitle()
        load()
        if !isOffline { grid.visibleCells.forEach { $0.retry() } }
    }

    // MARK: One photograph

    var isDetail: Bool { gtk_stack_get_visible_child_name(pages.opaque).map { String(cString: $0) } == "detail" }

    func openDetail(_ position: Int) {
        gtk_stack_set_visible_child_name(pages.opaque, "detail")
        detail.show(position, of: photographs)
    }

    func closeDetail() {
        let position = detail.position
        gtk_stack_set_visible_child_name(pages.opaque, "grid")
        detail.leave()
        grid.focus(position)
        showTitle()
    }

    // MARK: Saved state

    private func save() {
        guard let stateFile else { return }
        var (width, height): (Int32, Int32) = (0, 0)
        gtk_window_get_default_size(window.cast(), &width, &height)  // the current size, despite the name
        (state.width, state.height) = (Int(width), Int(height))
        state.scroll = grid.scroll
        state.write(to: stateFile)
    }
}
