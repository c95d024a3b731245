import Foundation
import ImageResource
import Synchronizer

/// One thing, done as people do it by hand: what `--measure` compares with.
enum Baseline: String, CaseIterable {
    /// The bytes come in the background; the image is made of them on the main thread.
    case decodeOnMain = "decode-on-main"
    /// Nothing is cancelled that has left the screen.
    case noCancel = "no-cancel"
    /// First come, first served.
    case fifo
    /// As large as it is stored, for the screen to make it smaller.
    case fullSize = "full-size"
    /// Neither cancelled nor in another order than asked for, which is what a `URLSession` does by itself.
    case noCancelFIFO = "no-cancel-fifo"

    var cancels: Bool { self != .noCancel && self != .noCancelFIFO }
    var isFirstComeFirstServed: Bool { self == .fifo || self == .noCancelFIFO }
}

/// What a cell is told about its picture.
enum PictureStep {
    /// Some of it, while the rest arrives.
    case preview(BitmapImage)
    case image(BitmapImage)
    case failure(any Error)
}

extension Session {
    /// Loads a picture for a cell. What is in memory is given before this returns.
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
                    step(.image(try ImageDecoding.image(from: data, sizing: resource.sizing)))
                } catch {
                    step(.failure(error))
                }
            case .error(let error): step(.failure(error))
            case .noData: step(.failure(URLError(.zeroByteResource)))
            }
        }
    }
}
