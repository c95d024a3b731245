/// What a view shows, and whose answer may change that: a value that decides, without any view, load or thread.
///
/// Each load has a token. The answer to any but the newest comes too late, so that no view ever shows what it was asked
/// for before.
struct BindingMachine<Key: Equatable> {
    typealias Token = Int

    private enum State: Equatable {
        case empty
        case loading(Token)
        case shown
        case failed
    }

    private var key: Key?
    private var state = State.empty
    private var lastToken = 0

    enum Step: Equatable {
        /// It is under way already.
        case goOn
        /// Cancel what is under way, and load.
        /// - keepsObject: Whether the view goes on showing its object, because it is the same resource's.
        case load(Token, keepsObject: Bool)
        /// Cancel what is under way, and show nothing.
        case clear
    }

    /// Asks for a resource, or for none.
    mutating func ask(_ wanted: Key?) -> Step {
        guard let wanted else {
            (key, state) = (nil, .empty)
            return .clear
        }
        let isSame = key == wanted
        if isSame, case .loading = state { return .goOn }
        let keepsObject = isSame && state == .shown
        lastToken += 1
        (key, state) = (wanted, .loading(lastToken))
        return .load(lastToken, keepsObject: keepsObject)
    }

    /// Whether that load is the newest, and has no answer yet.
    func isLoading(_ token: Token) -> Bool {
        state == .loading(token)
    }

    /// An answer has come; whether it is to be shown.
    mutating func answered(_ token: Token, isObject: Bool) -> Bool {
        guard state == .loading(token) else { return false }
        state = isObject ? .shown : .failed
        return true
    }

    /// Gives up what is under way; whether there was something. What is shown stays.
    mutating func cancel() -> Bool {
        guard case .loading = state else { return false }
        (key, state) = (nil, .empty)
        return true
    }
}
