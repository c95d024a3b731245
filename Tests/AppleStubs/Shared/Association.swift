// The Objective-C runtime's associated objects, as UIKit and AppKit export them. Compiled into both.
import Foundation

public enum objc_AssociationPolicy: UInt, Sendable {
    case OBJC_ASSOCIATION_ASSIGN = 0
    case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1
    case OBJC_ASSOCIATION_COPY_NONATOMIC = 3
    case OBJC_ASSOCIATION_RETAIN = 769
    case OBJC_ASSOCIATION_COPY = 771
}

/// What keeps its associated objects itself, so that they go when it goes.
package protocol StubAssociating: AnyObject {
    var associatedObjects: [UnsafeRawPointer: Any] { get set }
}

public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
    (object as? any StubAssociating)?.associatedObjects[key]
}

public func objc_setAssociatedObject(
    _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {
    (object as? any StubAssociating)?.associatedObjects[key] = value
}
