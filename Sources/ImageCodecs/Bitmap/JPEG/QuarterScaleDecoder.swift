#if !canImport(ImageIO)
    /// Small pictures, by way of a quarter of the size, for which means and slopes of the blocks are enough: most of
    /// the file is passed over, and not decoded. This is for common JPEGs in one scan; see `JPEGScans` for progressive
    /// ones.
    enum JPEGQuarter {
        /// The file is not in order, and libjpeg has to see what can be made of it.
        private struct NotInOrder: Error {}

        /// The picture; nil if it has to be made in another way.
        static func decode(_ reader: JPEGReader, _ plan: DecodePlan) throws -> BitmapImage? {
            guard let size = reader.startQuarter() else { return nil }
            let picture = try PictureAssembler(plan, decoded: size, reduction: 1 / 4)
            do {
                while !picture.isComplete {
                    try picture.nextRows { rows, stride, capacity in
                        let count = reader.quarterRows(rows, stride, capacity)
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
#endif
