/// Decides what a view shows and which answer may change it. A value type that knows no views, loads or threads.
///
/// Each load has a token. Answers with an older token are ignored, so a view never shows a resource of an earlier request.
struct BindingMachine<Key: Equatable> {
    typealias Token = Int

    /// How much of the resource is visible.
    private enum Content {
        case nothing
        /// A part, while the rest arrives.
        case part
        /// All of it, possibly stale.
        case object
    }

    private var key: Key?
    private var content = Content.nothing
    private var loading: Token?
    private var lastToken = 0

    enum Step: Equatable {
        /// The resource is already loading.
        case goOn
        /// Load, and cancel what is in flight. A visible object of the same resource stays.
        case load(Token)
        /// Cancel what is in flight, and show nothing.
        case clear
    }

    /// Requests a resource, or none.
    mutating func ask(_ wanted: Key?) -> Step {
        if key != wanted { (key, content, loading) = (wanted, .nothing, nil) }
        if wanted == nil { return .clear }
        if loading != nil { return .goOn }
        lastToken += 1
        loading = lastToken
        return .load(lastToken)
    }

    /// Whether that load is the latest, and has no answer yet.
    func isLoading(_ token: Token) -> Bool {
        loading == token
    }

    /// Whether nothing of the resource is visible.
    var showsNothing: Bool { content == .nothing }

    /// A preview has arrived. Returns whether to show it. It never replaces a whole object.
    mutating func previewed(_ token: Token, isPart: Bool) -> Bool {
        guard isLoading(token), content != .object else { return false }
        content = isPart ? .part : .object
        return true
    }

    /// An answer has arrived. Returns whether to show it.
    mutating func answered(_ token: Token, isObject: Bool) -> Bool {
        guard isLoading(token) else { return false }
        (content, loading) = (isObject ? .object : .nothing, nil)
        return true
    }

    /// Cancels what is in flight. Returns whether there was anything. The visible object stays.
    mutating func cancel() -> Bool {
        defer { loading = nil }
        return loading != nil
    }
}
