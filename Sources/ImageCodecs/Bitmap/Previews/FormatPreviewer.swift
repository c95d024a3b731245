/// Makes previews in one format.
protocol FormatPreviewer: AnyObject {
    /// The picture of all bytes so far; nil if it has not changed.
    func preview(of bytes: ByteReader) throws -> BitmapImage?
}
