import Foundation
import ImageCodecs
import Synchronizer

/// Processes the previews of an image as the image itself.
final class ProcessedPreviewer: Previewer {
    private let previewer: any Previewer<PlatformImage>
    private let processing: [ImageProcessing]
    private let sizing: ImageSizing

    init(_ previewer: any Previewer<PlatformImage>, processing: [ImageProcessing], sizing: ImageSizing) {
        (self.previewer, self.processing, self.sizing) = (previewer, processing, sizing)
    }

    func preview(of body: Data) -> PlatformImage? {
        previewer.preview(of: body).flatMap { try? ImageProcessing.apply(processing, to: $0, decodedAt: sizing) }
    }
}
