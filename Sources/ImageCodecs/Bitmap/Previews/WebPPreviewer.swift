import Foundation

/// Previews of a WebP, from the top.
final class WebPPreviewer: FormatPreviewer {
    /// How the file is decoded: in the same way as by the final decode.
    private enum Way {
        case planes(WebPPlanes, PictureAssembler)
        case picture(WebPDecoder)
    }

    private let plan: DecodePlan
    private let way: Way
    private var shownRows = 0

    /// Returns nil if there are no previews: for animations, and if an orientation may follow at the end.
    init?(_ bytes: ByteReader, plan: DecodePlan) throws {
        guard !WebPHeader.isAnimated(bytes), !WebPHeader.hasExif(bytes) else { return nil }
        let size = WebPDecoder.intermediateSize(bytes, plan: plan)
        self.plan = plan
        if WebPPlanes.suffices(bytes, plan: plan) {
            way = .planes(
                try WebPPlanes(plan.stored, scaledTo: size),
                try PictureAssembler(plan, decoded: size, startsCleared: true))
        } else {
            way = .picture(
                try WebPDecoder(stored: plan.stored, size: size, isOpaque: !WebPHeader.hasAlpha(bytes)))
        }
    }

    func preview(of bytes: ByteReader) throws -> BitmapImage? {
        let colours = ColorTransform(WebPHeader.profile(bytes), model: .rgb)
        switch way {
        case .planes(let planes, let picture):
            try planes.decode(bytes, into: picture, colours: colours)
            guard planes.made > shownRows else { return nil }
            shownRows = planes.made
            return try picture.snapshot(scale: plan.scale)
        case .picture(let decoder):
            try decoder.feed(bytes, pixels: plan.stored.area)
            guard decoder.rowsDone > shownRows else { return nil }
            shownRows = decoder.rowsDone
            let picture = try decoder.picture.copy()
            try WebPDecoder.premultiply(picture, of: bytes, stored: plan.stored, rows: shownRows)
            return try PictureAssembler.assemble(plan, whole: picture, colours: colours, isOpaque: false)
        }
    }
}
