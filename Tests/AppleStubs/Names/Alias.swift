// `RemoteImage` next to Apple's `ImageResource`, and `RemoteResource` next to an app's own `Resource`.
import ImageResource
import SwiftUI
import Synchronizer

struct Resource: Identifiable {
    let id: Int
    let url: URL
}

struct Greeting: RemoteResource {
    let url: URL
    func request() -> URLRequest { URLRequest(url: url) }
    var parse: @Sendable (Data) throws -> String { { String(decoding: $0, as: UTF8.self) } }
}

func load(_ greeting: some RemoteResource<String>, with synchronizer: Synchronizer) async throws -> String {
    try await synchronizer.load(greeting)
}

struct Row: View {
    let resource: Resource
    let thumbnail: RemoteImage

    init(_ resource: Resource) {
        self.resource = resource
        thumbnail = RemoteImage(url: resource.url, maxPixelSize: 400)
    }

    var body: some View { ResourceImage(thumbnail) }
}
