#if !canImport(ImageIO)
    /// By how much a JPEG is made smaller while it is decoded; the rest is a filter's.
    struct JPEGReduction {
        /// The scale, of those that are fast.
        let eighths: Int
        /// Whether the means and slopes of its blocks are fine enough, for two eighths.
        let isCoarse: Bool

        /// How many times as large as the picture what is decoded has to be: at half the scale, at a quarter, and at a
        /// quarter made of means and slopes.
        ///
        /// Measured on detailed and grainy parts of photographs, at all reductions and subsamplings: from these on the mean
        /// of areas comes within 45 dB of that over the full picture. Lanczos's filter comes within 40 dB where libjpeg
        /// scales, and within 46 dB where slopes are all there is.
        private static func enough(_ filter: ImageSizing.Filter) -> (half: Double, quarter: Double, coarse: Double) {
            filter == .area ? (3.5, 4.5, 4.5) : (1.9, 1.9, 2.5)
        }

        init(_ bytes: ByteReader, _ plan: DecodePlan) {
            let across = Double(plan.stored.width) / Double(plan.output.width)
            let down = Double(plan.stored.height) / Double(plan.output.height)
            // Chroma may have half the samples of luma across and down, which is foreseen; some have a quarter.
            let excess = max(1, Double(JPEGHeader.largestSubsampling(bytes)) / 2)
            let reduction = min(across, down) / excess
            let enough = Self.enough(plan.filter)
            isCoarse = reduction / 4 >= enough.coarse
            if isCoarse || reduction / 4 >= enough.quarter {
                eighths = 2
            } else {
                eighths = reduction / 2 >= enough.half ? 4 : 8
            }
        }
    }
#endif
