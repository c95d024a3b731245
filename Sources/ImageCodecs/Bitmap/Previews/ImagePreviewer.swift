#if !canImport(ImageIO)
    import Foundation
    import Synchronizer

    /// Makes previews of one image while its bytes arrive: of JPEG and WebP.
    ///
    /// What it needs of the budget it holds until it is dropped; if there is too little, it shows nothing rather than
    /// wait.
    final class ImagePreviewer: Previewer {
        private enum State {
            case waitingForHeader
            case showing(any FormatPreviewer, DecodeBudget.Reservation)
            case nothingToShow
        }

        private let sizing: ImageSizing
        private let budget: DecodeBudget
        private var state = State.waitingForHeader

        init(sizing: ImageSizing, budget: DecodeBudget = .previews) {
            self.sizing = sizing
            self.budget = budget
        }

        func preview(of body: Data) -> BitmapImage? {
            body.withUnsafeBytes { buffer in
                let bytes = ByteReader(buffer)
                if case .waitingForHeader = state { state = begin(bytes) }
                guard case .showing(let previewer, _) = state else { return nil }
                do {
                    return try previewer.preview(of: bytes)
                } catch {
                    // The final decode will say what is wrong; or nobody waits any more.
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
            guard let decoding = try? Decoding(bytes, sizing),
                let previewer = Self.previewer(format, bytes, decoding.plan)
            else { return .nothingToShow }
            let more = format == .jpeg ? JPEGPreviewer.bytesBeyondDecode(bytes, decoding.plan) : 0
            guard let reservation = budget.reserve(decoding.cost + decoding.plan.output.bytes + more) else {
                return .nothingToShow
            }
            return .showing(previewer, reservation)
        }

        private static func previewer(
            _ format: ImageFormat, _ bytes: ByteReader, _ plan: DecodePlan
        ) -> (any FormatPreviewer)? {
            format == .jpeg ? try? JPEGPreviewer(plan) : try? WebPPreviewer(bytes, plan)
        }
    }

    /// Makes previews of one format.
    protocol FormatPreviewer: AnyObject {
        /// What can be shown of all bytes so far; nil if that is nothing new.
        func preview(of bytes: ByteReader) throws -> BitmapImage?
    }
#endif
