/*:
 # Views and Publishers

 *For developers of apps.* Open this page in Xcode: most of it needs SwiftUI, UIKit or Combine. Without Xcode,
 `swift run ViewsAndPublishers` runs the part that needs none of them.

 The server of this page is a double. Its image is a single pixel, and the network is down at first.
 */
import Foundation
import ImageResource
import Synchronizer
import SynchronizerTesting

struct Weather: Decodable {
    let summary: String
}

let network = Gate()  // the network is back once it is open
let synchronizer = Synchronizer.stub { request in
    if request.path == "/pixel.gif" {
        return Reply(Data(base64Encoded: "R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=") ?? Data())
    }
    guard network.isOpen else { throw URLError(.notConnectedToInternet) }
    return Reply(#"{"summary": "Sunny"}"#, fields: ["Cache-Control": "max-age=60"])
}
let pixel = URL(string: "https://example.com/pixel.gif").map { RemoteImage(url: $0) }
let weather = URL(string: "https://example.com/weather.json").map { JSONResource<Weather>(url: $0) }
/*:
 `ResourceImage` shows an image, and `ResourceView` any other resource. Both give their content an action that loads again
 after a failure. The image fades in, because it was not in memory.
 */
#if canImport(SwiftUI)
    import SwiftUI

    struct WeatherCard: View {
        var body: some View {
            VStack {
                ResourceImage(pixel, transition: .fade(0.25)) { phase in
                    phase.image?.resizable()
                }
                ResourceView(weather) { phase, retry in
                    switch phase {
                    case .success(let weather): Text(weather.summary)
                    case .failure:
                        Button("Try again") {
                            network.open()
                            retry()
                        }
                    case .empty, .loading, .preview: ProgressView()
                    }
                }
            }
            .frame(width: 200, height: 200)
            .environment(\.synchronizer, synchronizer)
        }
    }
#endif
#if canImport(PlaygroundSupport)
    import PlaygroundSupport

    PlaygroundPage.current.setLiveView(WeatherCard())
#endif
/*:
 In UIKit, a `ListPrefetcher` is the prefetching data source of a table view or a collection view.
 */
#if canImport(UIKit) && !os(watchOS)
    import UIKit

    @MainActor
    func prefetch(_ photos: [URL], for table: UITableView) -> ListPrefetcher {
        let prefetcher = ListPrefetcher(synchronizer: synchronizer) { path in
            ImageResource(url: photos[path.item], maxPixelSize: 400)
        }
        table.prefetchDataSource = prefetcher  // the table does not retain it
        return prefetcher
    }
#endif
/*:
 `updates(of:)` gives first the object in memory, if there is one, and then that of the server. The second double always has
 a network, and its reports are outdated at once.
 */
let outdated = Synchronizer.stub { _ in
    Reply(#"{"summary": "Sunny"}"#, fields: ["Cache-Control": "max-age=0", "ETag": #""1""#])
}
if let weather {
    for round in 1...2 {
        for try await update in outdated.updates(of: weather) {
            print("Round \(round): \(update.object.summary), from \(update.source)")
        }
    }
}
/*:
 In Combine, `updatesPublisher(of:)` publishes the same, and `publisher(for:)` publishes one object.
 */
#if canImport(Combine)
    import Combine

    let subscription = weather.map { weather in
        outdated.publisher(for: weather).sink { completion in
            print("The publisher: \(completion)")
        } receiveValue: { weather in
            print("From the publisher: \(weather.summary)")
        }
    }
#endif
//: [Next: Your Own Resource](@next)
