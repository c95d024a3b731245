#if !canImport(ImageIO)
    internal import CLCMS
    import Foundation
    import Synchronizer

    /// Brings the colours of a picture, as its profile (ICC.1) describes them, to sRGB: by Little CMS.
    final class ColorTransform {
        /// What the profile is of.
        enum Model: Equatable {
            case rgb, grey
            /// Inks; inverted ones count the light that is left, as Adobe stores them.
            case cmyk(isInverted: Bool)
        }

        /// Larger ones are not looked at.
        private static let largestProfile = 4 << 20

        private let context: cmsContext
        private let transform: cmsHTRANSFORM
        private let model: Model
        /// What each grey becomes, without alpha; empty if it is not of greys.
        private let greys: [UInt32]
        /// Whether its tones are spread unlike those of sRGB, as by a gamma of 1.8. The mean of converted colours is then far
        /// from the converted mean, and it has to be applied before a picture is made smaller, which takes longer.
        private(set) var isDemanding = false

        /// Nil if the profile is damaged, is of another model, or makes no difference.
        init?(_ profile: ByteReader?, _ model: Model) {
            guard let profile, (128...Self.largestProfile).contains(profile.count),
                let context = cmsCreateContext(nil, nil)
            else { return nil }
            cmsSetLogErrorHandlerTHR(context) { _, _, _ in }
            guard let transform = Self.transform(profile, model, context) else {
                cmsDeleteContext(context)
                return nil
            }
            self.context = context
            self.transform = transform
            self.model = model
            greys = model == .grey ? Self.greys(transform) : []
            if model == .rgb, isIdentity { return nil }
            isDemanding = !keepsTones
        }

        deinit {
            cmsDeleteTransform(transform)
            cmsDeleteContext(context)
        }

        private static func transform(
            _ profile: ByteReader, _ model: Model, _ context: cmsContext
        ) -> cmsHTRANSFORM? {
            guard let source = cmsOpenProfileFromMemTHR(context, profile.bytes.baseAddress, UInt32(profile.count))
            else { return nil }
            defer { cmsCloseProfile(source) }
            guard cmsGetColorSpace(source) == model.signature, let target = cmsCreate_sRGBProfileTHR(context) else {
                return nil
            }
            defer { cmsCloseProfile(target) }
            let alpha = model == .rgb ? UInt32(cmsFLAGS_COPY_ALPHA) : 0
            return cmsCreateTransformTHR(
                context, source, model.layout, target, PixelLayout.bgra, UInt32(INTENT_RELATIVE_COLORIMETRIC),
                UInt32(cmsFLAGS_BLACKPOINTCOMPENSATION) | alpha)
        }

        /// Whether it changes no colour by more than one step: the profile is sRGB, by whatever name.
        private var isIdentity: Bool {
            let steps: [UInt8] = [0, 32, 64, 128, 192, 255]
            var before: [UInt8] = []
            for blue in steps {
                for green in steps {
                    for red in steps { before += [blue, green, red, 255] }
                }
            }
            var after = before
            after.withUnsafeMutableBytes { transform($0.baseAddress, count: $0.count / 4) }
            return zip(before, after).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
        }

        /// Whether it changes no grey by more than two steps.
        private var keepsTones: Bool {
            var tones = (0...255).map { UInt32($0) * 0x01_0101 }
            if case .cmyk = model { return true }
            tones.withUnsafeMutableBytes { convert($0.baseAddress, count: 256) }
            return tones.enumerated().allSatisfy { grey, tone in
                [0, 8, 16].allSatisfy { abs(Int(tone >> $0 & 0xFF) - grey) <= 2 }
            }
        }

        private func transform(_ pixels: UnsafeMutableRawPointer?, count: Int) {
            cmsDoTransform(transform, pixels, pixels, UInt32(clamping: count))
        }

        /// Changes a picture of premultiplied BGRA in place.
        func apply(to picture: PixelBuffer, isOpaque: Bool) throws {
            for row in 0..<picture.size.height {
                try ParseCancellation.check()
                convertPremultiplied(picture.row(row), count: picture.size.width, isOpaque: isOpaque)
            }
        }

        /// Changes pixels of premultiplied BGRA in place.
        func convertPremultiplied(_ pixels: UnsafeMutableRawPointer, count: Int, isOpaque: Bool) {
            if !isOpaque { Premultiplication.divide(pixels, into: pixels, count: count) }
            convert(pixels, count: count)
            if !isOpaque { Premultiplication.multiply(pixels, count: count) }
        }

        /// Changes pixels of straight BGRA in place.
        func convert(_ pixels: UnsafeMutableRawPointer?, count: Int) {
            guard model == .grey, let pixels else { return transform(pixels, count: count) }
            Self.look(up: greys, for: pixels.assumingMemoryBound(to: UInt32.self), count)
        }

        /// Makes BGRA of inks, in place.
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

        private static func look(up greys: [UInt32], for pixels: UnsafeMutablePointer<UInt32>, _ count: Int) {
            for x in 0..<count { pixels[x] = greys[Int(pixels[x] & 0xFF)] | pixels[x] & 0xFF00_0000 }
        }
    }

    extension ColorTransform {
        /// The last profiles that were looked at, as the images of a list often have the same one.
        private static let known = Locked([(profile: Data, isDemanding: Bool)]())

        /// Whether the profile of a picture that is not of inks is demanding; false if it is damaged.
        static func isDemanding(_ profile: ByteReader) -> Bool {
            guard (128...largestProfile).contains(profile.count) else { return false }
            let data = Data(profile.bytes)
            if let known = known.withLock({ $0.first { $0.profile == data } }) { return known.isDemanding }
            let isDemanding = ColorTransform(profile, profile.has("GRAY", at: 16) ? .grey : .rgb)?.isDemanding ?? false
            known.withLock { $0 = [(data, isDemanding)] + $0.prefix(7) }
            return isDemanding
        }
    }

    extension PictureAssembler {
        /// Makes the picture of one that is there as a whole, premultiplied, with its colours as sRGB: converted before it is
        /// made smaller if they demand that, and else afterwards, when there are fewer.
        static func assemble(
            _ plan: DecodePlan, _ whole: PixelBuffer, _ colours: ColorTransform?, isOpaque: Bool
        ) throws -> BitmapImage {
            guard let colours else { return try assemble(plan, whole, isOpaque: isOpaque) }
            let isEarly = colours.isDemanding && whole.size != plan.output
            let image = try assemble(plan, whole, isOpaque: isOpaque) { rows, count in
                if isEarly { colours.convertPremultiplied(rows, count: count, isOpaque: isOpaque) }
            }
            if !isEarly { try colours.apply(to: image.buffer, isOpaque: isOpaque) }
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
            case .cmyk(let isInverted): return isInverted ? PixelLayout.light : PixelLayout.inks
            }
        }
    }

    /// How lcms2.h packs a layout into bits, in macros that Swift does not see.
    private enum PixelLayout {
        static let grey = space(3) | channels(1) | bytes
        static let inks = space(6) | channels(4) | bytes
        static let light = inks | 1 << 13
        static let bgra = space(4) | channels(3) | bytes | extra | reversed | extraFirst

        private static let bytes: UInt32 = 1
        private static let extra: UInt32 = 1 << 7
        private static let reversed: UInt32 = 1 << 10
        private static let extraFirst: UInt32 = 1 << 14

        private static func space(_ number: UInt32) -> UInt32 { number << 16 }
        private static func channels(_ count: UInt32) -> UInt32 { count << 3 }
    }
#endif
