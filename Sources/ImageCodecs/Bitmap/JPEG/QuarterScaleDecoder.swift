/// Decodes common JPEGs with one scan to a quarter of the size, from the means and slopes of blocks. It skips most of the
/// file. `JPEGScans` does the same for progressive files.
enum QuarterScaleDecoder {
    /// The file seems corrupt, so libjpeg has to decode it.
    private struct NotInOrder: Error {}

    /// Returns nil if libjpeg has to decode the picture.
    static func decode(_ reader: JPEGReader, plan: DecodePlan) throws -> BitmapImage? {
        guard let size = reader.startQuarterScale() else { return nil }
        let picture = try PictureAssembler(plan, decoded: size, reduction: 1 / 4)
        do {
            while !picture.isComplete {
                try picture.nextRows { rows, stride, capacity in
                    let count = reader.quarterScaleRows(rows, stride: stride, capacity: capacity)
                    if count == 0 { throw NotInOrder() }
                    return count
                }
            }
        } catch is NotInOrder {
            return nil
        }
        return picture.finish(scale: plan.scale, isOpaque: true)
    }
}
