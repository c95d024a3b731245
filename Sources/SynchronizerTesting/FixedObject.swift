import Foundation
public import Synchronizer

/// An object that a synchronizer has from the start: see `Synchronizer.fixed(_:)`.
public struct FixedObject: Sendable {
    let insert: @Sendable (Synchronizer) -> Void

    /// Creates an object for a resource. Only the same resource gets it: the same request, type and variant, such as the size of an
    /// image.
    public init<R: Resource>(_ object: R.ParsedObject, for resource: R) {
        insert = { $0.insert(object, for: resource) }
    }
}

extension Synchronizer {
    /// Creates a synchronizer that has objects in memory and no network. In SwiftUI previews and snapshot tests, the objects appear
    /// in the first frame. Loads of other resources fail with `URLError.notConnectedToInternet`.
    ///
    /// ```swift
    /// PhotoView(photo)
    ///     .environment(\.synchronizer, .fixed(FixedObject(UIImage(resource: .sample), for: photo)))
    /// ```
    ///
    /// Loads that bypass the memory, such as those with `.reloadIgnoringLocalCacheData`, fail too.
    public static func fixed(_ objects: FixedObject...) -> Synchronizer {
        let synchronizer = Synchronizer.stub { _ in throw URLError(.notConnectedToInternet) }
        for object in objects { object.insert(synchronizer) }
        return synchronizer
    }
}
