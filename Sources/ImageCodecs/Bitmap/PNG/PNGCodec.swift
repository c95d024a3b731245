import Foundation

/// Decodes PNG: a still image, or the first frame of an animation.
enum PNGCodec: BitmapCodec {
    /// An interlaced image has to be in memory completely, because its rows arrive in several passes.
    static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int {
        let rows = PixelSize(width: plan.stored.width, height: 4).bytes
        if isAnimated(bytes) { return rows + 2 * plan.stored.bytes }  // a canvas, and a frame to put on it
        return rows + (bytes.byte(28) == 1 ? plan.stored.bytes : 0)
    }

    static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage {
        if isAnimated(bytes) {
            if let animation = APNGAnimation(Data(bytes.bytes), limit: 1) {
                if !animation.showsDefaultImage { return try animation.firstFrame(plan) }
            } else if !PNGChunks(bytes).contains(where: { $0.has("IEND") }) {
                // The missing end of the file may contain the first frame.
                throw ImageError.corrupt(.png, "the data ends too early")
            }
        }
        return try PNGDecoder(bytes).decode(plan)
    }

    private static func isAnimated(_ bytes: ByteReader) -> Bool { APNGAnimation.control(bytes) != nil }
}
