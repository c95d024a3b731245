/// How far the header readers search.
enum HeaderLimit {
    /// The largest number of chunks, boxes, segments or entries to visit. No ordinary picture has as many before its size.
    /// A hostile file may have millions, of a few bytes each.
    static let parts = 4096
}

/// The result of a format's header reader.
struct HeaderFacts: Equatable {
    var width: Int
    var height: Int
    var orientation = ImageOrientation.up
    /// The visible part; nil if all of it is visible.
    var crop: PixelArea?
}
