#if canImport(SwiftUI)
    import SwiftUI

    extension Image {
        #if canImport(UIKit)
            init(platformImage: PlatformImage) { self.init(uiImage: platformImage) }
        #else
            init(platformImage: PlatformImage) { self.init(nsImage: platformImage) }
        #endif
    }
#endif
