import Foundation
import ImageResource
import Synchronizer

/// The other side of the comparison of `--measure`: one technique of an app without the library.
enum Baseline: String, CaseIterable {
    /// Bytes arrive in the background. The whole photograph is decoded on the main thread, and then scaled to the size that
    /// is shown.
    case decodeOnMain = "decode-on-main"
    /// Loads that have left the screen are not cancelled. The newest load still comes first.
    case noCancel = "no-cancel"
    /// Loads that have left the screen are cancelled, but queued loads run in the order of their requests.
    case fifo
    /// Photographs are decoded at full size, and the screen scales them.
    case fullSize = "full-size"
    /// Combines two: loads are neither cancelled nor reordered, like a task of a `URLSession` that you do not keep.
    case noCancelFIFO = "no-cancel-fifo"

    var cancels: Bool { self != .noCancel && self != .noCancelFIFO }
    var isFirstComeFirstServed: Bool { self == .fifo || self == .noCancelFIFO }
}

/// The result that a cell receives for its picture.
enum PictureStep {
    /// A part of the picture, while the rest arrives.
    case preview(BitmapImage)
    case image(BitmapImage)
    case failure(any Error)
}

extension Session {
    /// Loads a picture for a cell. A picture in memory is delivered before this returns.
    func follow(_ resource: ImageResource, step: @escaping @MainActor (PictureStep) -> Void) -> CancelLoading {
        if baseline == .decodeOnMain { return followDecodingHere(resource, step) }
        let cancel = synchronizer.followResource(resource) { result in
            switch result {
            case .success(let update) where update.phase == .preview: step(.preview(update.object))
            case .success(let update): step(.image(update.object))
            case .failure(let error): step(.failure(error))
            }
        }
        if baseline?.cancels == false { return {} }
        return cancel
    }

    private func followDecodingHere(
        _ resource: ImageResource, _ step: @escaping @MainActor (PictureStep) -> Void
    ) -> CancelLoading {
        synchronizer.loadResource(DataResource(request: resource.request())) { result in
            switch result {
            case .success(let data):
                do {
                    let image = try ImageDecoding.image(from: data).resized(resource.sizing)
                    step(.image(try ImageProcessing.apply(resource.processing, to: image)))
                } catch {
                    step(.failure(error))
                }
            case .error(let error): step(.failure(error))
            case .noData: step(.failure(URLError(.zeroByteResource)))
            }
        }
    }
}
