/// The turns to parse that are taken by something other than the answer: by what is stored and shown meanwhile, and by
/// previews of what arrives. And the previews that wait for one.
///
/// They are few: no more than turns, and than loads under way.
struct SideTurns: Sendable {
    private struct Preview: Sendable {
        let id: SlotID
        var isAskedToStop = false
    }

    private var stored: [SlotID] = []
    private var previews: [Preview] = []
    private(set) var waitingPreviews: [SlotID] = []

    var isIdle: Bool { count == 0 && waitingPreviews.isEmpty }

    /// The turns that are taken.
    var count: Int { stored.count + previews.count }

    mutating func beginStored(_ id: SlotID) { stored.append(id) }

    mutating func endStored(_ id: SlotID) {
        if let place = stored.firstIndex(of: id) { stored.remove(at: place) }
    }

    mutating func wait(forPreview id: SlotID) {
        if !waitingPreviews.contains(id) { waitingPreviews.append(id) }
    }

    /// Its preview is of no use any more; one under way keeps its turn until it ends.
    mutating func stopWaiting(forPreview id: SlotID) { waitingPreviews.removeAll { $0 == id } }

    mutating func beginPreview(_ id: SlotID) {
        stopWaiting(forPreview: id)
        previews.append(Preview(id: id))
    }

    mutating func endPreview(_ id: SlotID) { previews.removeAll { $0.id == id } }

    /// Makes way for so many: the previews that are to be asked to stop, and have not been yet.
    mutating func makeWay(for count: Int) -> [SlotID] {
        let missing = min(count, previews.count) - previews.count { $0.isAskedToStop }
        guard missing > 0 else { return [] }
        let places = previews.indices.filter { !previews[$0].isAskedToStop }.prefix(missing)
        places.forEach { previews[$0].isAskedToStop = true }
        return places.map { previews[$0].id }
    }
}
