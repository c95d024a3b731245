import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Validations in the background", .bounded)
struct BackgroundRefreshesTests {
    let refreshes = BackgroundRefreshes(limit: 2)
    let begun = Collector<Int64>()
    let error = SynchronizerError.notCached(.init(url: nil, trace: LoadTrace()))

    func key(_ entry: Int64, _ size: Int = 100) -> BackgroundRefreshes.Key {
        .init(entry: .stored(entry), maximumBodySize: size)
    }

    static func request(of user: String) -> CacheRequest {
        CacheRequest(url: "http://a.example/x", fields: HTTPFields([("X-Profile", user)]))
    }

    @discardableResult
    func add(
        _ entry: Int64, size: Int = 100, user: String = "", since lookup: Int? = nil,
        listener: BackgroundRefreshes.Ended? = nil
    ) -> Bool {
        let (key, lookup, request) = (key(entry, size), lookup ?? refreshes.moment, Self.request(of: user))
        let begin: @Sendable () -> Void = { [begun] in begun.append(entry) }
        if let listener { return refreshes.start(key, for: request, since: lookup, listener: listener, begin: begin) }
        refreshes.queue(key, for: request, since: lookup, begin: begin)
        refreshes.startNext()
        return true
    }

    @Test("only so many run at a time, the oldest first, and each response's but once")
    func bounds() {
        for entry in [1, 2, 3, 3, 1, 4] { add(Int64(entry)) }
        #expect(begun.elements == [1, 2])
        refreshes.end(key(2), with: .failure(error))
        #expect(begun.elements == [1, 2, 3])
        refreshes.end(key(1), with: .failure(error))
        refreshes.end(key(3), with: .failure(error))
        #expect(begun.elements == [1, 2, 3, 4])
        add(1)
        #expect(begun.elements == [1, 2, 3, 4, 1])
    }

    @Test("with a listener one begins at once, queued or not, and each listener is called")
    func listeners() {
        for entry in 1...3 { add(Int64(entry)) }
        let told = Locked(0)
        for _ in 0..<2 { add(3, listener: { _ in told.withLock { $0 += 1 } }) }
        #expect(begun.elements == [1, 2, 3])
        refreshes.end(key(3), with: .failure(error))
        #expect(told.withLock { $0 } == 2)
    }

    @Test("its result is for listeners with the same request; others look their request up again")
    func otherRequest() {
        let results = Collector<String>()
        let note = { (user: String) -> BackgroundRefreshes.Ended in
            { results.append($0 == nil ? "\(user) looks up" : "\(user) has it") }
        }
        for user in ["alice", "bob", "alice"] { add(1, user: user, listener: note(user)) }
        #expect(begun.elements == [1])
        refreshes.end(key(1), with: .failure(error))
        #expect(results.elements == ["alice has it", "bob looks up", "alice has it"])
        // The same if it was queued by a load of another user.
        for entry in 2...4 { add(Int64(entry), user: "alice") }
        refreshes.end(key(2), with: nil)
        add(4, user: "bob", listener: note("bob"))
        refreshes.end(key(4), with: .failure(error))
        #expect(results.elements.last == "bob looks up")
    }

    @Test("one that has succeeded since the response was looked up is not repeated; a running one is joined")
    func ended() {
        let before = refreshes.moment
        let head = ResponseHead(
            URLResponse(
                url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
        add(1)
        refreshes.end(
            key(1),
            with: .success(Fetched(body: Data(), response: head, freshUntil: .distantPast, trace: LoadTrace())))
        add(1, since: before)
        let outdated = add(1, since: before) { _ in }
        #expect(!outdated && begun.elements == [1])
        let others = [add(2, since: before) { _ in }, add(1) { _ in }, add(1, since: before) { _ in }]
        #expect(others == [true, true, true])
        #expect(begun.elements == [1, 2, 1])
        refreshes.end(key(2), with: .failure(error))
        add(2, since: before)
        #expect(begun.elements == [1, 2, 1, 2])
    }

    @Test("those that end at once are begun one after the other, not inside each other")
    func endAtOnce() {
        let depth = Locked(0)
        let deepest = Locked(0)
        for entry in 1...2 { add(Int64(entry)) }
        for entry in 3...900 {
            let (key, request) = (key(Int64(entry)), Self.request(of: ""))
            refreshes.queue(key, for: request, since: refreshes.moment) { [refreshes, begun] in
                let now = depth.withLock {
                    $0 += 1; return $0
                }
                deepest.withLock { $0 = max($0, now) }
                begun.append(Int64(entry))
                refreshes.end(key, with: nil)
                depth.withLock { $0 -= 1 }
            }
        }
        refreshes.end(key(1), with: nil)
        #expect(begun.elements == (1...900).map(Int64.init) && deepest.withLock { $0 } == 1)
        add(1)
        #expect(begun.elements.last == 1)
    }

    @Test("a load that waits for a queued one has its own begun, which waits for no other process")
    func own() {
        for entry in 1...3 { add(Int64(entry)) }
        let isOwn = Locked(false)
        let isStarted = refreshes.start(
            key(3), for: Self.request(of: ""), since: 0, listener: { _ in }, begin: { isOwn.withLock { $0 = true } })
        #expect(isStarted && isOwn.withLock { $0 } && begun.elements == [1, 2])
        for entry in 1...3 { refreshes.end(key(Int64(entry)), with: nil) }
        #expect(begun.elements == [1, 2])
    }

    @Test("a caller that accepts larger bodies starts its own refresh")
    func sizes() {
        add(1)
        add(1, size: 200)
        #expect(begun.elements == [1, 1])
    }

    @Test("of very many that wait the oldest are let go of")
    func veryMany() {
        for entry in 1...1_004 { add(Int64(entry)) }
        for entry in 1...2 { refreshes.end(key(Int64(entry)), with: .failure(error)) }
        #expect(begun.elements == [1, 2, 5, 6])
    }
}
