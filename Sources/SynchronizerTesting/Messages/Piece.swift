import Foundation

extension Reply {
    /// One thing that a scripted reply does: see ``Reply/script(_:)-([Reply.Piece])``.
    public enum Piece: Sendable {
        /// Sends bytes.
        case bytes(Data)
        /// Repeats the pieces this many times, or until the client disconnects if the number is nil. Nothing is generated in
        /// advance.
        case again([Piece], times: Int?)
        /// Waits at a gate.
        case wait(Gate)
        /// Waits for this many seconds. For demonstrations and benchmarks; tests use gates.
        case delay(TimeInterval)
        /// Sends nothing more, and leaves the connection open until the client closes it.
        case hold
        /// Closes the connection (FIN).
        case close
        /// Resets the connection (RST).
        case reset

        /// Sends a text in UTF-8.
        public static func text(_ text: String) -> Piece { .bytes(Data(text.utf8)) }
    }
}

extension ReplyPlan.Step {
    init(_ piece: Reply.Piece) {
        switch piece {
        case .bytes(let bytes): self = .send(bytes, content: 0..<0)
        case .again(let pieces, let times): self = .again(pieces.map(Self.init), times: times)
        case .wait(let gate): self = .wait(gate)
        case .delay(let seconds): self = .delay(seconds)
        case .hold: self = .hold
        case .close: self = .close
        case .reset: self = .reset
        }
    }
}
