// Module selectors (SE-0491), which need a compiler of version 6.3.
import DeveloperToolsSupport
import ImageResource
import SwiftUI
import Synchronizer

struct Resource {}

struct Row: View {
    let thumbnail: ImageResource::ImageResource?
    let asset: DeveloperToolsSupport::ImageResource

    var body: some View { ResourceImage(thumbnail) }
}

func load(_ greeting: some Synchronizer::Resource<String>, with synchronizer: Synchronizer) async throws -> String {
    try await synchronizer.load(greeting)
}
