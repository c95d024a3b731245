import Foundation

/// A parsed object with what is known of it, as loads share it and the memory keeps it.
final class LoadedObject: Sendable {
    let object: any Sendable
    /// Bytes that it takes in memory.
    let cost: Int
    let head: ResponseHead
    let freshUntil: Date
    let trace: LoadTrace

    init(object: any Sendable, cost: Int, head: ResponseHead, freshUntil: Date, trace: LoadTrace) {
        self.object = object
        self.cost = cost
        self.head = head
        self.freshUntil = freshUntil
        self.trace = trace
    }
}
