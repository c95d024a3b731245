#if canImport(SwiftUI)
    import SwiftUI

    extension Image {
        #if canImport(UIKit)
            nonisolated init(platformImage: PlatformImage) { self.init(uiImage: platformImage) }
        #else
            nonisolated init(platformImage: PlatformImage) { self.init(nsImage: platformImage) }
        #endif
    }
#endif
