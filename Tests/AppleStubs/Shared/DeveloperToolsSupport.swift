import Foundation

/// An image in an asset catalogue, which SwiftUI, UIKit and AppKit bring into scope: its name collides with ours.
public struct ImageResource: Hashable, Sendable {
    public init(name: String, bundle: Bundle) {}
}
