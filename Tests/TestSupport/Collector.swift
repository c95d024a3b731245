import ScriptedServer

/// What happens on any thread, collected; a test waits until there is enough of it.
public final class Collector<Element: Sendable>: Sendable {
    private let collected = Observed<[Element]>([])

    public init() {}

    public var elements: [Element] { collected.read { $0 } }
    public var count: Int { collected.read(\.count) }

    public func append(_ element: Element) {
        collected.update { $0.append(element) }
    }

    /// Returns what has been collected once it is so many, and throws if it never is.
    @discardableResult
    public func wait(for count: Int) async throws -> [Element] {
        try await collected.wait(for: "\(count) of \(Element.self)") { $0.count >= count }
    }
}
