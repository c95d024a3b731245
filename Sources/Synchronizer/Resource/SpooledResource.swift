import Foundation

/// A resource whose body goes to a file while it arrives, instead of being held in memory.
package protocol SpooledResource: Resource {
    /// Where the body goes; nil if it goes to memory after all.
    var target: FileTarget? { get }

    /// Makes the object from the whole body, on a background thread, as ``Resource/parse`` does.
    func object(from body: StoredBytes) throws -> ParsedObject
}

/// Says that a body goes to a file.
package struct FileTarget: Hashable, Sendable {
    /// The file that the body is for; nil if a parser reads it.
    package let destination: URL?

    package init(_ destination: URL?) {
        self.destination = destination
    }

    /// For a body that is delivered nowhere, or not by this fetch.
    var withoutDestination: FileTarget { FileTarget(nil) }

    /// All targets are equal: loads of one response share its download, wherever their files are.
    package static func == (one: FileTarget, other: FileTarget) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}

extension FileTarget {
    /// Where the body of a resource goes; nil if it goes to memory.
    init?(of resource: some Resource) {
        if let spooled = resource as? any SpooledResource {
            guard let target = spooled.target else { return nil }
            self = target
        } else {
            guard resource is any StreamingResource else { return nil }
            self.init(nil)
        }
    }
}

/// Passes the bytes of an arriving body to its parsers, in order from the first byte.
package final class BodyTap: Sendable {
    private let receivers = Locked<[@Sendable (Data) -> Void]>([])
    private let coalescing = Locked<@Sendable () -> Bool>({ false })

    /// Whether a load wants the body other than the one whose destination is known. Loads may subscribe and cancel at any time.
    var isCoalesced: Bool { coalescing.withLock { $0 }() }

    /// Sets what is asked whenever ``isCoalesced`` is read.
    func askWhetherCoalesced(_ isCoalesced: @escaping @Sendable () -> Bool) { coalescing.withLock { $0 = isCoalesced } }

    /// Adds a receiver. Call it before the first byte arrives.
    func attach(_ receive: @escaping @Sendable (Data) -> Void) {
        receivers.withLock { $0.append(receive) }
    }

    var isUsed: Bool { receivers.withLock { !$0.isEmpty } }

    func pass(_ data: Data) {
        for receive in receivers.withLock({ $0 }) { receive(data) }
    }
}
