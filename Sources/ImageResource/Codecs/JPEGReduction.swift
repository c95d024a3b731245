#if !canImport(ImageIO)
    /// By how much a JPEG is made smaller while it is decoded; the rest is a filter's.
    struct JPEGReduction {
        /// The scale, of those that are fast.
        let eighths: Int
        /// Whether the means and slopes of its blocks are fine enough, for two eighths.
        let isCoarse: Bool

        /// How many times as large as the picture what is decoded has to be: at half the scale, at a quarter, and at a
        /// quarter made of means and slopes.
        private typealias Enough = (half: Double, quarter: Double, coarse: Double)

        /// Measured on detailed and grainy parts of photographs, at all reductions and subsamplings: from these on the mean
        /// of areas comes within 45 dB of that over the full picture. Lanczos's filter comes within 40 dB where libjpeg
        /// scales, and within 46 dB where slopes are all there is.
        ///
        /// Where chroma has fewer samples across than down, or the other way round, libjpeg repeats them, and the mean
        /// of areas needs more.
        private static func enough(_ filter: ImageSizing.Filter, isEven: Bool) -> Enough {
            switch filter {
            case .area: isEven ? (2.7, 3.6, 4.5) : (3.5, 4.5, 4.5)
            case .lanczos: (1.9, 1.9, 2.5)
            }
        }

        /// A demanding profile is applied to the full picture: the means of two by two pixels, as half the scale has them,
        /// are converted to other colours than the pixels' own, and at no reduction is half the scale enough.
        private static let enoughToConvert = Enough(half: .infinity, quarter: .infinity, coarse: .infinity)

        init(_ bytes: ByteReader, _ plan: DecodePlan) {
            let across = Double(plan.stored.width) / Double(plan.output.width)
            let down = Double(plan.stored.height) / Double(plan.output.height)
            // Chroma may have half the samples of luma across and down, which is foreseen; some have a quarter.
            let sampling = JPEGHeader.subsampling(bytes)
            let excess = max(1, Double(max(sampling.across, sampling.down)) / 2)
            let reduction = min(across, down) / excess
            let isDemanding =
                JPEGHeader.profile(bytes)?.withUnsafeBytes { ColorTransform.isDemanding(ByteReader($0)) } ?? false
            let isEven = sampling.across == sampling.down
            let enough = isDemanding ? Self.enoughToConvert : Self.enough(plan.filter, isEven: isEven)
            isCoarse = reduction / 4 >= enough.coarse
            if isCoarse || reduction / 4 >= enough.quarter {
                eighths = 2
            } else {
                eighths = reduction / 2 >= enough.half ? 4 : 8
            }
        }
    }
#endif
