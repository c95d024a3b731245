internal import CLCMS
import Foundation
import SynchronizerSupport

/// Converts colours to sRGB as an ICC profile (ICC.1) describes them, with Little CMS.
final class ColorTransform {
    /// The colour model of a profile.
    enum Model: Equatable {
        /// CMYK inks are stored inverted: a value is the light that the ink leaves.
        case rgb, grey, cmyk
    }

    /// Larger profiles are ignored.
    private static let largestProfile = 4 << 20

    private let context: cmsContext
    private let transform: cmsHTRANSFORM
    private let model: Model
    /// What each grey becomes, without alpha; empty for other models.
    private let greys: [UInt32]
    /// Converts faster than Little CMS; nil for profiles with tables, and for grey and CMYK.
    let matrix: MatrixConversion?
    /// What the profile changes.
    private(set) var effect = Effect.gamut

    /// What a profile does to colours. The mean of converted colours differs from the converted mean, so the effect decides
    /// how far a picture may be scaled down before the profile is applied.
    enum Effect {
        case none
        /// The tones are those of sRGB. Colours outside sRGB are clipped.
        case gamut
        /// The tones differ from those of sRGB, as with a gamma of 1.8, or four inks are mixed, with a profile or without. Then
        /// the two means are far apart.
        case tones
    }

    /// Returns nil if the profile is corrupt, belongs to another model, or changes nothing.
    /// - Parameter usesMatrix: Whether `MatrixConversion` may replace Little CMS.
    init?(_ profile: ByteReader?, model: Model, usesMatrix: Bool = true) {
        guard let profile, (128...Self.largestProfile).contains(profile.count),
            let context = cmsCreateContext(nil, nil)
        else { return nil }
        cmsSetLogErrorHandlerTHR(context) { _, _, _ in }
        guard let (transform, matrix) = Self.transform(profile, model: model, context: context) else {
            cmsDeleteContext(context)
            return nil
        }
        self.context = context
        self.transform = transform
        self.model = model
        greys = model == .grey ? Self.greys(transform) : []
        self.matrix = matrix.flatMap { usesMatrix && Self.agree($0, with: transform) ? $0 : nil }
        if model == .rgb, isIdentity { return nil }
        if !keepsTones { effect = .tones }
    }

    deinit {
        cmsDeleteTransform(transform)
        cmsDeleteContext(context)
    }

    private static func transform(
        _ profile: ByteReader, model: Model, context: cmsContext
    ) -> (cmsHTRANSFORM, MatrixConversion?)? {
        guard let source = cmsOpenProfileFromMemTHR(context, profile.bytes.baseAddress, UInt32(profile.count))
        else { return nil }
        defer { cmsCloseProfile(source) }
        guard cmsGetColorSpace(source) == model.signature, let target = cmsCreate_sRGBProfileTHR(context) else {
            return nil
        }
        defer { cmsCloseProfile(target) }
        // Optimised transforms of grey have too few steps in the shadows. Only 256 greys are converted, so speed does not matter.
        let options = UInt32(model == .rgb ? cmsFLAGS_COPY_ALPHA : model == .grey ? cmsFLAGS_NOOPTIMIZE : 0)
        let transform = cmsCreateTransformTHR(
            context, source, model.layout, target, PixelLayout.bgra, UInt32(INTENT_RELATIVE_COLORIMETRIC),
            UInt32(cmsFLAGS_BLACKPOINTCOMPENSATION) | options)
        return transform.map { ($0, model == .rgb ? MatrixConversion(source, target: target) : nil) }
    }

    /// Pixels of straight BGRA: all combinations of some channel values.
    private static let mixtures: [UInt8] = {
        let steps: [UInt8] = [0, 8, 32, 64, 128, 192, 255]
        return steps.flatMap { blue in
            steps.flatMap { green in steps.flatMap { red in [blue, green, red, 255] } }
        }
    }()

    private static func mixtures(_ convert: (UnsafeMutableRawPointer, _ count: Int) -> Void) -> [UInt8] {
        var pixels = mixtures
        pixels.withUnsafeMutableBytes { bytes in bytes.baseAddress.map { convert($0, bytes.count / 4) } }
        return pixels
    }

    private static func areNear(_ some: [UInt8], _ others: [UInt8], steps: Int) -> Bool {
        zip(some, others).allSatisfy { abs(Int($0) - Int($1)) <= steps }
    }

    /// Whether both convert alike. Profiles can have oddities that `MatrixConversion` does not know.
    private static func agree(_ matrix: MatrixConversion, with transform: cmsHTRANSFORM) -> Bool {
        areNear(
            mixtures(matrix.convert), mixtures { cmsDoTransform(transform, $0, $0, UInt32(clamping: $1)) }, steps: 2)
    }

    /// Whether the profile changes no colour by more than one step. It then describes sRGB, whatever its name.
    private var isIdentity: Bool { Self.areNear(Self.mixtures, Self.mixtures(transform), steps: 1) }

    /// Whether the profile changes no grey by more than two steps.
    private var keepsTones: Bool {
        var tones = (0...255).map { UInt32($0) * 0x01_0101 }
        if model == .cmyk { return true }
        tones.withUnsafeMutableBytes { tones in tones.baseAddress.map { convert($0, count: 256) } }
        return tones.enumerated().allSatisfy { grey, tone in
            [0, 8, 16].allSatisfy { abs(Int(tone >> $0 & 0xFF) - grey) <= 2 }
        }
    }

    private func transform(_ pixels: UnsafeMutableRawPointer, count: Int) {
        if let matrix { return matrix.convert(pixels, count: count) }
        cmsDoTransform(transform, pixels, pixels, UInt32(clamping: count))
    }

    /// Converts a picture of premultiplied BGRA in place.
    func apply(to picture: PixelBuffer, isOpaque: Bool) throws {
        for row in 0..<picture.size.height {
            try ParseCancellation.check()
            convertPremultiplied(picture.row(row), count: picture.size.width, isOpaque: isOpaque)
        }
    }

    /// Converts pixels of premultiplied BGRA in place.
    func convertPremultiplied(_ pixels: UnsafeMutableRawPointer, count: Int, isOpaque: Bool) {
        if !isOpaque { Premultiplication.divide(pixels, into: pixels, count: count) }
        convert(pixels, count: count)
        if !isOpaque { Premultiplication.multiply(pixels, count: count) }
    }

    /// Converts pixels of straight BGRA in place.
    func convert(_ pixels: UnsafeMutableRawPointer, count: Int) {
        guard model == .grey else { return transform(pixels, count: count) }
        Self.look(up: greys, for: pixels.assumingMemoryBound(to: UInt32.self), count: count)
    }

    /// Converts CMYK to BGRA in place.
    func mix(_ pixels: UnsafeMutableRawPointer, count: Int) {
        transform(pixels, count: count)
        let alpha = pixels.assumingMemoryBound(to: UInt8.self) + 3
        for index in 0..<count { alpha[index * 4] = 255 }
    }

    private static func greys(_ transform: cmsHTRANSFORM) -> [UInt32] {
        let before = (0...255).map { UInt8($0) }
        var after = [UInt32](repeating: 0, count: 256)
        cmsDoTransform(transform, before, &after, 256)
        return after.map { $0 & 0x00FF_FFFF }
    }

    private static func look(up greys: [UInt32], for pixels: UnsafeMutablePointer<UInt32>, count: Int) {
        for x in 0..<count { pixels[x] = greys[Int(pixels[x] & 0xFF)] | pixels[x] & 0xFF00_0000 }
    }
}

extension ColorTransform {
    /// The latest profiles. The images of a list often have the same one.
    private static let known = Locked([(profile: [UInt8], effect: Effect)]())

    /// The effect of a profile that is not CMYK; none if it is corrupt.
    static func effect(of profile: ByteReader) -> Effect {
        guard (128...largestProfile).contains(profile.count) else { return .none }
        if let known = known.withLock({ $0.first { $0.profile.elementsEqual(profile.bytes) } }) { return known.effect }
        let effect = ColorTransform(profile, model: profile.has("GRAY", at: 16) ? .grey : .rgb)?.effect ?? .none
        known.withLock { $0 = [(Array(profile.bytes), effect)] + $0.prefix(7) }
        return effect
    }
}

extension PictureAssembler {
    /// Makes the picture from a complete premultiplied one. Its colours are converted to sRGB before it is scaled.
    static func assemble(
        _ plan: DecodePlan, whole: PixelBuffer, colours: ColorTransform?, isOpaque: Bool
    ) throws -> BitmapImage {
        guard let colours else { return try assemble(plan, whole: whole, isOpaque: isOpaque) }
        let isLast = whole.size == plan.output
        let image = try assemble(plan, whole: whole, isOpaque: isOpaque) { rows, count in
            if !isLast { colours.convertPremultiplied(rows, count: count, isOpaque: isOpaque) }
        }
        if isLast { try colours.apply(to: image.buffer, isOpaque: isOpaque) }
        return image
    }
}

extension ColorTransform.Model {
    fileprivate var signature: cmsColorSpaceSignature {
        switch self {
        case .rgb: return cmsSigRgbData
        case .grey: return cmsSigGrayData
        case .cmyk: return cmsSigCmykData
        }
    }

    fileprivate var layout: UInt32 {
        switch self {
        case .rgb: return PixelLayout.bgra
        case .grey: return PixelLayout.grey
        case .cmyk: return PixelLayout.cmyk
        }
    }
}

/// Layouts as lcms2.h packs them into bits. Its macros are not visible to Swift.
private enum PixelLayout {
    static let grey = space(3) | channels(1) | bytes
    static let cmyk = space(6) | channels(4) | bytes | inverted
    static let bgra = space(4) | channels(3) | bytes | extra | reversed | extraFirst

    private static let bytes: UInt32 = 1
    private static let extra: UInt32 = 1 << 7
    private static let reversed: UInt32 = 1 << 10
    private static let inverted: UInt32 = 1 << 13
    private static let extraFirst: UInt32 = 1 << 14

    private static func space(_ number: UInt32) -> UInt32 { number << 16 }
    private static func channels(_ count: UInt32) -> UInt32 { count << 3 }
}
