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
        ///
        /// A profile is applied to what is decoded. The means of two by two pixels, as half the scale has them, are converted
        /// to other colours than the pixels' own. Where tones change, half the scale is enough at no reduction.
        private static func enough(
            _ filter: ImageSizing.Filter, isEven: Bool, _ profile: ColorTransform.Effect
        ) -> Enough {
            switch (profile, filter) {
            case (.tones, _): (.infinity, .infinity, .infinity)
            case (.inks, .area): (3.5, 5, 5.5)
            case (.gamut, .area): (3.5, isEven ? 3.9 : 4.5, 4.5)
            case (.none, .area): isEven ? (2.7, 3.6, 4.5) : (3.5, 4.5, 4.5)
            case (_, .lanczos): (1.9, 1.9, 2.5)
            }
        }

        init(_ bytes: ByteReader, _ plan: DecodePlan) {
            let across = Double(plan.stored.width) / Double(plan.output.width)
            let down = Double(plan.stored.height) / Double(plan.output.height)
            // Chroma may have half the samples of luma across and down, which is foreseen; some have a quarter.
            let sampling = JPEGHeader.subsampling(bytes)
            let excess = max(1, Double(max(sampling.across, sampling.down)) / 2)
            let reduction = min(across, down) / excess
            let profile = JPEGHeader.profile(bytes)?.withUnsafeBytes { ColorTransform.effect(of: ByteReader($0)) }
            // How inks mix is no more linear than what a profile does.
            let effect = JPEGHeader.isInks(bytes) ? .inks : profile ?? .none
            let enough = Self.enough(plan.filter, isEven: sampling.across == sampling.down, effect)
            isCoarse = reduction / 4 >= enough.coarse
            if isCoarse || reduction / 4 >= enough.quarter {
                eighths = 2
            } else {
                eighths = reduction / 2 >= enough.half ? 4 : 8
            }
        }
    }
#endif
