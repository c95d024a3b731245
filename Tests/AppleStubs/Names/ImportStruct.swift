// A declaration that is imported by name wins over those that come with whole modules.
import ImageResource
import SwiftUI
import Synchronizer

import struct ImageResource.ImageResource

struct Row: View {
    let thumbnail: ImageResource?

    var body: some View { ResourceImage(thumbnail) }
}
