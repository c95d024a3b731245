internal import CLCMS
import Foundation

/// The primaries and the transfer function of a picture, as numbers of ITU-T H.273.
struct ColorCodePoints {
    let primaries: Int
    let transfer: Int

    /// Whether these code points are converted, or are those of sRGB.
    var areKnown: Bool { chromaticities != nil && gamma != nil }

    /// An ICC profile of these colours; nil for those of sRGB, and for code points that are not converted.
    var profile: Data? {
        guard let chromaticities, let gamma, primaries != 1 || gamma != Self.sRGBCurve else { return nil }
        return Self.profile(of: chromaticities, gamma: gamma)
    }

    /// Red, green and blue (H.273 table 2). Other primaries are near those of sRGB, rare or unknown.
    private var chromaticities: cmsCIExyYTRIPLE? {
        switch primaries {
        case 1: Self.triple((0.640, 0.330), (0.300, 0.600), (0.150, 0.060))  // sRGB
        case 9: Self.triple((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))  // BT.2020
        case 12: Self.triple((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))  // Display P3
        default: nil
        }
    }

    /// The parameters of `cmsBuildParametricToneCurve`, type 4 (H.273 table 3). The curves of BT.709, BT.601 and BT.2020 are
    /// taken for the one of sRGB, because still pictures that name them are made for displays. The high dynamic range of PQ
    /// and HLG is not converted.
    private var gamma: [Double]? {
        switch transfer {
        case 1, 2, 6, 13, 14, 15: Self.sRGBCurve
        case 4: [2.2, 1, 0, 0, 0]
        case 8: [1, 1, 0, 0, 0]
        default: nil
        }
    }

    private static let sRGBCurve = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]

    private static func triple(
        _ red: (Double, Double), _ green: (Double, Double), _ blue: (Double, Double)
    ) -> cmsCIExyYTRIPLE {
        func point(_ place: (x: Double, y: Double)) -> cmsCIExyY { cmsCIExyY(x: place.x, y: place.y, Y: 1) }
        return cmsCIExyYTRIPLE(Red: point(red), Green: point(green), Blue: point(blue))
    }

    private static func profile(of chromaticities: cmsCIExyYTRIPLE, gamma: [Double]) -> Data? {
        var (white, primaries) = (cmsCIExyY(x: 0.3127, y: 0.3290, Y: 1), chromaticities)
        guard let curve = cmsBuildParametricToneCurve(nil, 4, gamma) else { return nil }
        defer { cmsFreeToneCurve(curve) }
        guard let profile = cmsCreateRGBProfileTHR(nil, &white, &primaries, [curve, curve, curve]) else {
            return nil
        }
        defer { cmsCloseProfile(profile) }
        var size: UInt32 = 0
        guard cmsSaveProfileToMem(profile, nil, &size) != 0 else { return nil }
        var data = Data(count: Int(size))
        return data.withUnsafeMutableBytes { cmsSaveProfileToMem(profile, $0.baseAddress, &size) } != 0 ? data : nil
    }
}

extension ColorTransform {
    /// Returns nil for the colours of sRGB, and for code points that are not converted.
    static func from(_ points: ColorCodePoints) -> ColorTransform? {
        points.profile.flatMap { $0.withUnsafeBytes { ColorTransform(ByteReader($0), model: .rgb) } }
    }

    /// A grey picture may have a profile for RGB or for grey. Other pictures need one for RGB.
    static func from(_ profile: ByteReader, isGrey: Bool) -> ColorTransform? {
        ColorTransform(profile, model: isGrey && profile.has("GRAY", at: 16) ? .grey : .rgb)
    }
}
