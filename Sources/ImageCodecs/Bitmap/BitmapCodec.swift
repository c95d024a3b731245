/// Decodes images of one format.
protocol BitmapCodec {
    /// The bytes that a decode takes in addition to its picture, computed from headers alone.
    static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int

    static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage
}
