/// What a view shows, and whose answer may change that: a value that decides, without any view, load or thread.
///
/// Each load has a token. What comes of any but the newest comes too late, so that no view ever shows what it was asked
/// for before.
struct BindingMachine<Key: Equatable> {
    typealias Token = Int

    /// What there is to be seen of the resource.
    private enum Content {
        case nothing
        /// A part of it, while the rest arrives.
        case part
        /// All of it, be it stale.
        case object
    }

    private var key: Key?
    private var content = Content.nothing
    private var loading: Token?
    private var lastToken = 0

    enum Step: Equatable {
        /// It is under way already.
        case goOn
        /// Load, in place of what is under way. What is to be seen of the same resource stays.
        case load(Token)
        /// Cancel what is under way, and show nothing.
        case clear
    }

    /// Asks for a resource, or for none.
    mutating func ask(_ wanted: Key?) -> Step {
        if key != wanted { (key, content, loading) = (wanted, .nothing, nil) }
        if wanted == nil { return .clear }
        if loading != nil { return .goOn }
        lastToken += 1
        loading = lastToken
        return .load(lastToken)
    }

    /// Whether that load is the newest, and has no answer yet.
    func isLoading(_ token: Token) -> Bool {
        loading == token
    }

    /// Whether there is nothing to be seen of the resource.
    var showsNothing: Bool { content == .nothing }

    /// Something has come before the answer; whether it is to be shown: in place of another part, and of nothing else.
    mutating func previewed(_ token: Token, isPart: Bool) -> Bool {
        guard isLoading(token), content != .object else { return false }
        content = isPart ? .part : .object
        return true
    }

    /// An answer has come; whether it is to be shown.
    mutating func answered(_ token: Token, isObject: Bool) -> Bool {
        guard isLoading(token) else { return false }
        (content, loading) = (isObject ? .object : .nothing, nil)
        return true
    }

    /// Gives up what is under way; whether there was something. What is shown stays.
    mutating func cancel() -> Bool {
        defer { loading = nil }
        return loading != nil
    }
}
