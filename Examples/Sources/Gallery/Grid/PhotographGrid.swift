import CGtk
import Foundation
import GTK
import GalleryModel

/// A scrolling grid of photographs.
@MainActor
final class PhotographGrid {
    let root: Widget = gtk_scrolled_window_new()
    private let grid: Widget
    private let list: OpaquePointer?
    private let session: Session
    private var photographs: [Photograph] = []
    private var cells: [ObjectIdentifier: Weak] = [:]
    private var hasColumns = false
    /// Called with the index of a photograph that the user activates.
    var activated: @MainActor (Int) -> Void = { _ in }
    weak var journal: (any CellJournal)?

    /// Points around each cell, as in `Style`. The margin around the whole grid is not part of a page.
    static let spacing = 8.0

    private struct Weak {
        weak var cell: PhotographCell?
    }

    init(session: Session) {
        self.session = session
        let list = gtk_string_list_new(nil)
        self.list = list
        let factory = gtk_signal_list_item_factory_new()
        grid = gtk_grid_view_new(gtk_no_selection_new(list), factory)
        gtk_grid_view_set_max_columns(grid.opaque, 1)
        gtk_grid_view_set_single_click_activate(grid.opaque, 1)
        gtk_scrolled_window_set_child(root.opaque, grid)
        gtk_scrolled_window_set_policy(root.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_widget_set_vexpand(root, 1)
        gtk_widget_set_hexpand(root, 1)
        grid.describe(as: "Photographs")
        factory?.onObject("setup") { [weak self] in self?.setUp($0) }
        factory?.onObject("bind") { [weak self] in self?.bind($0) }
        factory?.onObject("unbind") { item in item.attached("cell", as: PhotographCell.self)?.unbind() }
        grid.onPosition("activate") { [weak self] in self?.activate($0) }
        followWidth()
    }

    /// Sets the number of columns to what fits. GTK makes cells for thirty rows of the largest number of columns.
    ///
    /// The width is reported during a layout, and the layout must not be changed then.
    private func followWidth() {
        guard let adjustment = gtk_scrolled_window_get_hadjustment(root.opaque) else { return }
        var isPlanned = false
        adjustment.on("notify::page-size") { [weak self] in
            if isPlanned { return }
            isPlanned = true
            MainLoop.afterFrame {
                isPlanned = false
                self?.setColumns(gtk_adjustment_get_page_size(adjustment))
            }
        }
    }

    private func setColumns(_ width: Double) {
        guard width > 1 else { return }
        defer { afterLayout { [weak self] in self?.hasColumns = true } }
        let columns = guint(max(1, width / (PhotographCell.pictureSize.width + 2 * Self.spacing)))
        guard columns != gtk_grid_view_get_max_columns(grid.opaque) else { return }
        gtk_grid_view_set_max_columns(grid.opaque, columns)
    }

    /// Runs `action` if the grid still exists. The second frame from now follows a layout.
    private func afterLayout(_ action: @escaping @MainActor () -> Void) {
        var frames = 0
        root.onTick {
            frames += 1
            if frames == 2 { action() }
            return frames < 2
        }
    }

    // MARK: Called by the factory

    private func setUp(_ item: OpaquePointer) {
        let cell = PhotographCell(session: session, journal: journal)
        gtk_list_item_set_child(item, cell.root)
        item.attach(cell, as: "cell")
        cells = cells.filter { $0.value.cell != nil }
        cells[ObjectIdentifier(cell)] = Weak(cell: cell)
    }

    private func bind(_ item: OpaquePointer) {
        let position = Int(gtk_list_item_get_position(item))
        guard photographs.indices.contains(position) else { return }
        item.attached("cell", as: PhotographCell.self)?.bind(photographs[position])
    }

    private func activate(_ position: Int) {
        guard photographs.indices.contains(position) else { return }
        let cell = visibleCells.first { $0.photograph == photographs[position] }
        if cell?.retry() != true { activated(position) }
    }

    // MARK: Contents

    /// Shows these photographs. Those that do not move keep their cells.
    func show(_ photographs: [Photograph]) {
        let kept = zip(self.photographs, photographs).prefix { $0 == $1 }.count
        let removed = self.photographs.count - kept
        self.photographs = photographs
        let names = photographs[kept...].map { strdup("\($0.id)") }
        defer { names.forEach { free($0) } }
        var pointers = names.map { UnsafePointer<CChar>($0) } + [nil]
        gtk_string_list_splice(list, guint(kept), guint(removed), &pointers)
    }

    /// Loads all visible photographs again.
    func reload() {
        let photographs = photographs
        show([])
        show(photographs)
    }

    /// The mapped cells that have a photograph: the visible ones, and a row or two beyond.
    var visibleCells: [PhotographCell] {
        cells.values.compactMap(\.cell).filter(\.isVisible)
    }

    /// Takes the keyboard focus.
    func takeFocus() {
        gtk_widget_grab_focus(grid)
    }

    /// Moves the keyboard focus to a photograph, as soon as it has a cell.
    func focus(_ position: Int) {
        guard photographs.indices.contains(position) else { return }
        let photograph = photographs[position]
        gtk_widget_activate_action_variant(grid, "list.scroll-to-item", g_variant_new_uint32(guint32(position)))
        if takeFocus(at: photograph) { return }
        takeFocus()
        afterLayout { [weak self] in _ = self?.takeFocus(at: photograph) }
    }

    /// Focuses the list item around the cell of a photograph. Returns whether the photograph has a cell.
    private func takeFocus(at photograph: Photograph) -> Bool {
        let cell = cells.values.lazy.compactMap(\.cell).first { $0.photograph == photograph }
        guard let cell, let item = gtk_widget_get_parent(cell.root) else { return false }
        return gtk_widget_grab_focus(item) != 0
    }

    // MARK: Scrolling

    private var adjustment: UnsafeMutablePointer<GtkAdjustment>? { gtk_scrolled_window_get_vadjustment(root.opaque) }

    /// The distance from the top, in points.
    var scroll: Double {
        get { adjustment.map { gtk_adjustment_get_value($0) } ?? 0 }
        set { adjustment.map { gtk_adjustment_set_value($0, newValue) } }
    }

    /// The largest value of `scroll`.
    var end: Double {
        adjustment.map { max(0, gtk_adjustment_get_upper($0) - gtk_adjustment_get_page_size($0)) } ?? 0
    }

    func onScroll(_ action: @escaping @MainActor () -> Void) {
        adjustment?.on("value-changed", action)
    }

    /// Scrolls there as soon as the list is long enough, unless the user has scrolled before.
    func restore(scroll: Double) {
        guard scroll > 0 else { return }
        var framesLeft = 120
        root.onTick { [weak self] in
            guard let self, self.scroll == 0, framesLeft > 0 else { return false }
            framesLeft -= 1
            guard hasColumns && end >= scroll || framesLeft == 0 else { return true }
            self.scroll = scroll
            return false
        }
    }
}
