import Foundation
import SynchronizerSupport

/// Makes previews of an image while its bytes arrive. JPEG and WebP have previews.
///
/// A previewer holds bytes of the budget until it is deallocated. If too few are left, there are no previews.
package final class ImagePreviewer {
    private enum State {
        case waitingForHeader
        case showing(any FormatPreviewer, DecodeBudget.Reservation)
        case nothingToShow
    }

    private let sizing: ImageSizing
    private let budget: DecodeBudget
    private var state = State.waitingForHeader

    package init(sizing: ImageSizing, budget: DecodeBudget = .previews) {
        self.sizing = sizing
        self.budget = budget
    }

    package func preview(of body: Data) -> BitmapImage? {
        body.withUnsafeBytes { buffer in
            let bytes = ByteReader(buffer)
            if case .waitingForHeader = state { state = begin(bytes) }
            guard case .showing(let previewer, _) = state else { return nil }
            do {
                return try previewer.preview(of: bytes)
            } catch {
                // Either the image is corrupt, which the final decode reports, or the load is cancelled.
                state = .nothingToShow
                return nil
            }
        }
    }

    private func begin(_ bytes: ByteReader) -> State {
        guard let format = ImageFormat(bytes) else { return bytes.count < 64 ? .waitingForHeader : .nothingToShow }
        guard format == .jpeg || format == .webp else { return .nothingToShow }
        guard ImageHeader(bytes) != nil, format != .jpeg || JPEGHeader.isComplete(bytes) else {
            return .waitingForHeader
        }
        guard let decoding = try? Decoding(bytes, sizing: sizing),
            let previewer = Self.previewer(format, bytes: bytes, plan: decoding.plan)
        else { return .nothingToShow }
        let more = format == .jpeg ? JPEGPreviewer.bytesBeyondDecode(bytes, plan: decoding.plan) : 0
        guard let reservation = budget.reserve(decoding.cost + decoding.plan.output.bytes + more) else {
            return .nothingToShow
        }
        return .showing(previewer, reservation)
    }

    private static func previewer(
        _ format: ImageFormat, bytes: ByteReader, plan: DecodePlan
    ) -> (any FormatPreviewer)? {
        format == .jpeg ? try? JPEGPreviewer(plan) : try? WebPPreviewer(bytes, plan: plan)
    }
}

/// Makes previews in one format.
protocol FormatPreviewer: AnyObject {
    /// The picture of all bytes so far; nil if it has not changed.
    func preview(of bytes: ByteReader) throws -> BitmapImage?
}
