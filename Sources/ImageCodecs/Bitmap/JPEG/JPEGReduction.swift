/// How far a JPEG is reduced while it is decoded. A filter does the rest.
struct JPEGReduction {
    /// The scale in eighths: 8, 4 or 2, which libjpeg computes fast.
    let eighths: Int
    /// Whether the means and slopes of blocks suffice, at two eighths.
    let lowFrequencyOnly: Bool
    /// The scans of a progressive file, if means and slopes suffice.
    let scans: JPEGScans?

    /// How many times as large as the result the decoded picture must be: at half the scale, at a quarter, and at a quarter
    /// from means and slopes.
    private typealias Enough = (half: Double, quarter: Double, coarse: Double)

    /// These values were measured on detailed and grainy parts of photographs, at all reductions and subsamplings. They are
    /// the smallest at which the result is close to that of the same filter over the full picture. With the area filter, the
    /// PSNR is at least 45 dB. With Lanczos's filter, it is at least 40 dB where libjpeg scales, and at least 46 dB where only
    /// slopes are used.
    ///
    /// Where chroma has fewer samples across than down, or vice versa, libjpeg repeats samples, and the area filter needs a
    /// larger picture.
    ///
    /// A profile is applied to the decoded picture. At half the scale, each pixel is the mean of 2 × 2 pixels, and the converted
    /// mean differs from the mean of the converted pixels. If a profile changes tones, no reduced scale suffices. Nor does any
    /// for CMYK, with a profile or without: where black ink has detail, the mean of the colours differs from the colour of the
    /// mean inks.
    private static func enough(
        _ filter: ImageSizing.Filter, isEven: Bool, profile: ColorTransform.Effect
    ) -> Enough {
        switch (profile, filter) {
        case (.tones, _): (.infinity, .infinity, .infinity)
        case (.gamut, .area): (3.5, isEven ? 3.9 : 4.5, 4.5)
        case (.none, .area): isEven ? (2.7, 3.6, 4.5) : (3.5, 4.5, 4.5)
        case (_, .lanczos): (1.9, 1.9, 2.5)
        }
    }

    init(_ bytes: ByteReader, plan: DecodePlan) {
        let across = Double(plan.stored.width) / Double(plan.output.width)
        let down = Double(plan.stored.height) / Double(plan.output.height)
        // The values allow for chroma with half the samples of luma across and down. Some files have a quarter.
        let sampling = JPEGHeader.subsampling(bytes)
        let excess = max(1, Double(max(sampling.across, sampling.down)) / 2)
        let reduction = min(across, down) / excess
        let profile = JPEGHeader.profile(bytes)?.withUnsafeBytes { ColorTransform.effect(of: ByteReader($0)) }
        let effect = JPEGHeader.isCMYK(bytes) ? .tones : profile ?? .none
        let enough = Self.enough(plan.filter, isEven: sampling.across == sampling.down, profile: effect)
        let isCoarse = reduction / 4 >= enough.coarse
        let isProgressive = isCoarse && JPEGHeader.isProgressive(bytes)
        // Refining scans can't be read without all coefficients. If none can be left out, all coefficients are needed.
        scans = isProgressive ? JPEGScans(bytes) : nil
        lowFrequencyOnly = isCoarse && (!isProgressive || scans != nil)
        if isCoarse || reduction / 4 >= enough.quarter {
            eighths = 2
        } else {
            eighths = reduction / 2 >= enough.half ? 4 : 8
        }
    }
}
