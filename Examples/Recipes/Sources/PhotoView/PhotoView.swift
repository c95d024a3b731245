// A SwiftUI view of a photo with a retry, and previews of all that it can show.
#if canImport(SwiftUI)
    import ImageResource
    import SwiftUI
    import Synchronizer
    import SynchronizerTesting

    struct PhotoView: View {
        let photo: RemoteImage?

        var body: some View {
            ResourceImage(photo) { phase, retry in
                switch phase {
                case .empty: ProgressView()
                case .success(let image): image.resizable()
                case .failure: Button("Try again", action: retry)
                }
            }
        }
    }

    struct PhotoViewPreviews: PreviewProvider {
        private static let photo = URL(string: "https://example.com/photo.gif").map { RemoteImage(url: $0) }

        static var previews: some View {
            VStack {
                PhotoView(photo: photo)
                    .environment(\.synchronizer, .stub { _ in Reply(pixel) })
                PhotoView(photo: photo)
                    .environment(\.synchronizer, .stub { _ in Reply().failing(.silence(.beforeHead)) })
            }
        }

        /// A GIF of one pixel. The handler of a stub reads it on any thread.
        nonisolated private static let pixel =
            Data(base64Encoded: "R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=") ?? Data()
    }
#endif
