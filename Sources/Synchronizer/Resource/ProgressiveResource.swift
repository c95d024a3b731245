import Foundation

/// A resource with previews while its bytes arrive.
package protocol ProgressiveResource: Resource {
    /// Creates the previewer of one body.
    func makePreviewer() -> any Previewer<ParsedObject>
}

/// Makes previews of one body, on one thread at a time, but not always the same one.
///
/// It keeps its decoding state, so that all previews together cost about one decode. When the body is complete or the load is
/// cancelled, the previewer is released, and the object is parsed as usual.
package protocol Previewer<Object>: AnyObject {
    associatedtype Object: Sendable

    /// Makes a preview of the bytes so far; nil if there is nothing to show, or nothing new. `body` always starts with the first
    /// byte. It checks `ParseCancellation`, and returns nil when it is cancelled.
    func preview(of body: Data) -> Object?
}
