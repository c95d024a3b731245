/// Receives what the cells show, for measurements and checks.
@MainActor
protocol CellJournal: AnyObject {
    /// A cell became visible at that time, in microseconds, with or without its picture.
    func cellAppeared(_ cell: PhotographCell, at moment: Int)
    /// A cell has its picture, or the placeholder of a failed one. It may be invisible.
    func cellShowed(_ cell: PhotographCell)
    /// A cell became invisible, or was given another photograph.
    func cellDisappeared(_ cell: PhotographCell)
}
