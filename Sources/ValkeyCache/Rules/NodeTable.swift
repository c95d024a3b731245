/// The nodes of a cluster that redirections have named, and which of them to ask for a slot. Times are seconds of any clock that
/// does not go back.
///
/// Any node can be asked for any slot: if another node has the slot, the answer names that node. So a node that is down matters
/// only for its own slots, until its replica takes over.
package struct NodeTable<Node: Hashable & Sendable>: Sendable {
    /// The most nodes that are kept.
    package static var maximumCount: Int { 64 }

    /// The nodes that are known to have slots.
    private var slots: [Int: Node] = [:]
    /// All nodes that were named. The one that was named last is the first.
    package private(set) var nodes: [Node] = []
    /// The breakers of nodes that have failed.
    private var breakers: [Node: CircuitBreaker] = [:]

    package init() {}

    /// Whether the server is known to be a cluster.
    package var isCluster: Bool { !nodes.isEmpty }

    /// Notes that a redirection has named the node that has a slot.
    package mutating func note(_ node: Node, of slot: Int) {
        guard slots[slot] != node else { return }
        slots[slot] = node
        guard nodes.first != node else { return }
        nodes.removeAll { $0 == node }
        nodes.insert(node, at: 0)
        if nodes.count > Self.maximumCount { forget(nodes.removeLast()) }
    }

    /// The nodes that can be asked for a slot, best first: the one that is known to have it, the main node, and all others.
    ///
    /// - Parameters:
    ///   - slot: nil for a command without keys.
    ///   - main: the node that the user has named.
    package func candidates(for slot: Int?, main: Node) -> [Node] {
        let first = slot.flatMap { slots[$0] } ?? main
        return [first] + (first == main ? [] : [main]) + nodes.filter { $0 != first && $0 != main }
    }

    /// Whether a call may use the node now.
    package mutating func allows(_ node: Node, at now: Double) -> Bool { breakers[node]?.allows(at: now) ?? true }

    /// The nodes whose last calls did not fail.
    package var workingNodes: [Node] { nodes.filter(isWorking) }

    /// Whether all nodes have failed.
    package func isPausing(main: Node) -> Bool { isCluster && !isWorking(main) && workingNodes.isEmpty }

    private func isWorking(_ node: Node) -> Bool { breakers[node]?.isClosed ?? true }

    package mutating func didAnswer(_ node: Node) { breakers[node]?.succeed() }

    /// Notes that the node has answered, though not to a call.
    package mutating func noteAnswer(_ node: Node, at now: Double) { breakers[node]?.noteAnswer(at: now) }

    /// Notes that the node can't be used. Others will tell where its slots are now. Returns whether to log.
    package mutating func didFail(_ node: Node, at now: Double) -> Bool {
        slots = slots.filter { $0.value != node }
        return breakers[node, default: CircuitBreaker()].fail(at: now)
    }

    private mutating func forget(_ node: Node) {
        slots = slots.filter { $0.value != node }
        breakers[node] = nil
    }
}
