import Foundation

/// A file whose frames can be decoded.
package protocol FrameSource: Sendable {
    var durations: [TimeInterval] { get }
    var loopCount: Int { get }
    /// The bytes that the source and one maker take in memory.
    var byteCount: Int { get }

    func maker() throws -> any FrameMaker
}

/// Makes frames. A maker belongs to one thread at a time.
package protocol FrameMaker {
    func frame(at index: Int) throws -> BitmapImage
}

/// Opens animations: GIF, APNG and WebP. Other images have one frame.
package enum FrameSources {
    package static func source(
        of data: Data, sizing: ImageSizing, limit: Int = ImageDecoding.memoryBudget,
        budget: DecodeBudget = .shared, room: DecodeBudget = .animations
    ) throws -> any FrameSource {
        // This checks the limits before anything is allocated.
        try data.withUnsafeBytes { _ = try Decoding(ByteReader($0), sizing: sizing, budget: limit) }
        guard let decoder = try decoder(of: data), decoder.frames.count > 1 else {
            return StillFrame(data: data, sizing: sizing, budget: budget)
        }
        let working = decoder.workingBytes
        let (plan, cost) = try DecodePlan(stored: decoder.canvas, orientation: decoder.orientation, sizing: sizing)
            .limited(to: limit) { _ in working }
        return ComposedFrames(
            decoder: decoder, plan: plan, cost: cost, budget: budget, room: room, fileSize: data.count)
    }

    private static func decoder(of data: Data) throws -> (any AnimationDecoder)? {
        guard let format = ImageFormat(data), let decoder = decoder(of: data, format: format) else { return nil }
        guard decoder.frames.count <= AnimationFrame.most else {
            throw ImageError.corrupt(format, "more than \(AnimationFrame.most) frames")
        }
        guard decoder.isComplete else { throw ImageError.corrupt(format, "frames are missing") }
        return decoder
    }

    private static func decoder(of data: Data, format: ImageFormat) -> (any AnimationDecoder)? {
        switch format {
        case .gif: return GIFAnimation(data)
        case .png: return APNGAnimation(data)
        case .webp: return WebPAnimation(data)
        default: return nil
        }
    }
}

/// Frames that are drawn over one another.
struct ComposedFrames: FrameSource {
    fileprivate let decoder: any AnimationDecoder
    let plan: DecodePlan
    /// The bytes that making a frame takes from the budget.
    let cost: Int
    fileprivate let budget: DecodeBudget
    /// The budget for what makers hold between frames.
    fileprivate let room: DecodeBudget
    fileprivate let fileSize: Int

    var durations: [TimeInterval] { decoder.frames.map(\.duration) }
    var loopCount: Int { decoder.loopCount }
    var byteCount: Int { fileSize + decoder.canvasBytes + decoder.frames.count * Self.bytesPerFrame }

    /// The approximate bytes of a frame's description.
    private static let bytesPerFrame = 256

    func maker() throws -> any FrameMaker { Maker(frames: self) }

    private final class Maker: FrameMaker {
        private let frames: ComposedFrames
        /// Kept from frame to frame if the budget `room` has bytes for its canvas.
        private var compositor: FrameCompositor?
        private var reserved: DecodeBudget.Reservation?

        init(frames: ComposedFrames) {
            self.frames = frames
        }

        func frame(at index: Int) throws -> BitmapImage {
            let plan = frames.plan
            return try frames.budget.with(frames.cost) {
                let compositor = try self.compositor ?? FrameCompositor(frames.decoder)
                reserved = reserved ?? frames.room.reserve(frames.decoder.canvasBytes)
                self.compositor = reserved == nil ? nil : compositor
                let canvas = try compositor.canvas(showing: index)
                let isWhole = plan.output == canvas.size && plan.orientation == .up
                return try PictureAssembler.assemble(plan, whole: isWhole ? canvas.copy() : canvas, isOpaque: false)
            }
        }
    }
}

/// A still image.
private struct StillFrame: FrameSource, FrameMaker {
    let data: Data
    let sizing: ImageSizing
    let budget: DecodeBudget

    var durations: [TimeInterval] { [0] }
    var loopCount: Int { 1 }
    var byteCount: Int { data.count }

    func maker() throws -> any FrameMaker { self }

    func frame(at index: Int) throws -> BitmapImage {
        try data.withUnsafeBytes { try Decoding(ByteReader($0), sizing: sizing).picture(budget) }
    }
}
