/// The parse slots for previews and for stored responses that are shown during a revalidation, and the previews that wait for
/// one.
///
/// The lists are short enough for a linear search: at most one element for each slot, or for each load in flight.
struct AuxiliaryParseSlots: Sendable {
    private struct Preview: Sendable {
        let id: RecordID
        var isAskedToStop = false
    }

    private var stored: [RecordID] = []
    private var previews: [Preview] = []
    private(set) var waitingPreviews: [RecordID] = []

    var isIdle: Bool { count == 0 && waitingPreviews.isEmpty }

    /// The slots in use.
    var count: Int { stored.count + previews.count }

    mutating func beginStored(_ id: RecordID) { stored.append(id) }

    mutating func endStored(_ id: RecordID) {
        if let place = stored.firstIndex(of: id) { stored.remove(at: place) }
    }

    mutating func wait(forPreview id: RecordID) {
        if !waitingPreviews.contains(id) { waitingPreviews.append(id) }
    }

    /// The preview is not needed any more. A running one keeps its slot until it ends.
    mutating func stopWaiting(forPreview id: RecordID) { waitingPreviews.removeAll { $0 == id } }

    mutating func beginPreview(_ id: RecordID) {
        stopWaiting(forPreview: id)
        previews.append(Preview(id: id))
    }

    mutating func endPreview(_ id: RecordID) { previews.removeAll { $0.id == id } }

    /// Frees slots for this many parses. Returns the previews to ask to stop; each preview is returned only once.
    mutating func preempt(for count: Int) -> [RecordID] {
        let missing = min(count, previews.count) - previews.count { $0.isAskedToStop }
        guard missing > 0 else { return [] }
        let places = previews.indices.filter { !previews[$0].isAskedToStop }.prefix(missing)
        places.forEach { previews[$0].isAskedToStop = true }
        return places.map { previews[$0].id }
    }
}
