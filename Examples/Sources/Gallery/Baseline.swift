import Foundation
import ImageResource
import Synchronizer

/// One thing, done as people do it by hand: what `--measure` compares with.
enum Baseline: String, CaseIterable {
    /// The bytes come in the background; the whole photograph is decoded on the main thread, and then made as small as
    /// it is shown.
    case decodeOnMain = "decode-on-main"
    /// Nothing is cancelled that has left the screen; what was asked for last still comes first.
    case noCancel = "no-cancel"
    /// What has left the screen is cancelled, but what is waiting comes in the order of asking.
    case fifo
    /// As large as it is stored, for the screen to make it smaller.
    case fullSize = "full-size"
    /// Two things at once: neither cancelled nor in another order than asked for, as a task of a `URLSession` is that
    /// nobody keeps.
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
                    step(.image(try ImageDecoding.image(from: data).resized(resource.sizing)))
                } catch {
                    step(.failure(error))
                }
            case .error(let error): step(.failure(error))
            case .noData: step(.failure(URLError(.zeroByteResource)))
            }
        }
    }
}
