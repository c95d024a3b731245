/*:
 # Prefetching and Retrying

 *For developers of lists, and of tests.* Without Xcode, run `swift run PrefetchingAndRetrying`.

 A prefetch says how far it is, and what became of each resource. The server of this page is a double: it needs no sockets,
 and fails when it is told to.
 */
import Foundation
import ImageResource
import Synchronizer
import SynchronizerTesting

let gate = Gate()  // the replies wait here
let server = StubServer { request in
    try await gate.wait()
    if request.path == "/broken" { throw URLError(.networkConnectionLost) }
    return Reply("photo \(request.queryValue("number") ?? "?")", fields: ["Cache-Control": "max-age=3600"])
}
let synchronizer = server.synchronizer()
let urls =
    (1...20).compactMap { URL(string: "https://example.com/photo?number=\($0)") }
    + [URL(string: "https://example.com/broken")].compactMap { $0 }
/*:
 The user will probably want these photos. The gate lets ten replies through, and then the rest.
 */
let prefetch = synchronizer.prefetch(urls.map { DataResource(url: $0) })
gate.admit(10)
for await progress in prefetch.progressUpdates {
    let filled = Int(progress.fraction * 21)
    print(String(repeating: "█", count: filled) + String(repeating: "░", count: 21 - filled), progress.finished)
    if progress.finished >= 10 { gate.open() }
}

let result = await prefetch.result
print("\(result.loaded) are loaded.")
for failure in result.failures { print("\(urls[failure.index].path) failed: \(failure.error)") }
print("The next load of the first one comes from \(try await synchronizer.loaded(DataResource(url: urls[0])).source).")
/*:
 A view that shows a failure can offer to try again. `ResourceView` and `ResourceImage` pass a `retry` to their content, and
 `ResourceBinding`, which they use, has a method of that name.
 */
let network = Gate()  // the network is back once it is open
let flaky = Synchronizer.stub { _ in
    guard network.isOpen else { throw URLError(.notConnectedToInternet) }
    return Reply("Here it is.")
}
let (phases, show) = AsyncStream.makeStream(of: String.self)
let binding = ResourceBinding<DataResource>(synchronizer: flaky) { phase in
    switch phase {
    case .loading: show.yield("loading …")
    case .success(let data): show.yield(String(decoding: data, as: UTF8.self))
    case .failure: show.yield("failed. [Try again]")
    case .empty, .preview: break
    }
}
binding.load(DataResource(url: urls[0]))
for await phase in phases {
    print(phase)
    if phase.hasPrefix("failed") {
        network.open()
        binding.retry()  // the user presses the button
    } else if phase.hasPrefix("Here") {
        break
    }
}
//: [Next: Views and Publishers](@next)
