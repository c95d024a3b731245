/// Hears of what the cells show: for measuring, and for checking.
@MainActor
protocol CellJournal: AnyObject {
    /// A cell has come into sight, at that moment, with a picture or without. In microseconds.
    func cellAppeared(_ cell: PhotographCell, at moment: Int)
    /// A cell has its picture, or what stands for one that failed. It may be out of sight.
    func cellShowed(_ cell: PhotographCell)
    /// A cell has gone out of sight, or has got another photograph.
    func cellDisappeared(_ cell: PhotographCell)
}
