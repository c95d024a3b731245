import Foundation

/// The formats that are recognized by their first bytes, whatever the server declares.
///
/// On Apple's systems, ImageIO decodes what it supports. On Linux, JPEG, PNG, WebP and GIF are always supported. The other
/// formats need the package trait of their name.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    /// ITU-T T.81 (JPEG), in a JFIF or Exif file.
    case jpeg = "JPEG"
    /// W3C PNG, with or without animation (APNG).
    case png = "PNG"
    /// GIF87a and GIF89a.
    case gif = "GIF"
    /// RFC 9649.
    case webp = "WebP"
    /// AV1 in a HEIF container.
    case avif = "AVIF"
    /// HEVC in a HEIF container.
    case heic = "HEIC"
    /// ISO/IEC 18181, bare or in its container.
    case jpegXL = "JPEG XL"
    /// SVG as uncompressed text (not .svgz).
    case svg = "SVG"

    /// Recognizes the format by its first bytes; nil if it is none of these. This takes well under a microsecond, except
    /// for text that may be SVG, where up to 4 KB are read.
    public init?(_ data: Data) {
        guard let format = data.withUnsafeBytes({ Self(ByteReader($0)) }) else { return nil }
        self = format
    }

    init?(_ bytes: ByteReader) {
        if bytes.big16(0) == 0xFFD8, bytes.byte(2) == 0xFF {
            self = .jpeg
        } else if bytes.bigWord(0) == 0x8950_4E47, bytes.bigWord(4) == 0x0D0A_1A0A {
            self = .png
        } else if bytes.has("GIF87a", at: 0) || bytes.has("GIF89a", at: 0) {
            self = .gif
        } else if bytes.has("RIFF", at: 0), bytes.has("WEBP", at: 8) {
            self = .webp
        } else if JPEGXLHeader.recognizes(bytes) {
            self = .jpegXL
        } else if let format = Self.heif(bytes) {
            self = format
        } else if SVGHeader.recognizes(bytes) {
            self = .svg
        } else {
            return nil
        }
    }

    /// The format of the pictures in a HEIF file, by its brands (ISO/IEC 14496-12 §4.3).
    private static func heif(_ bytes: ByteReader) -> ImageFormat? {
        guard bytes.has("ftyp", at: 4), let length = bytes.big32(0) else { return nil }
        var general = false
        for offset in [8] + Array(stride(from: 16, to: min(length, 256), by: 4)) {
            if bytes.has("avif", at: offset) || bytes.has("avis", at: offset) { return .avif }
            if ["heic", "heix", "heim", "heis", "hevc"].contains(where: { bytes.has($0, at: offset) }) { return .heic }
            general = general || bytes.has("mif1", at: offset)
        }
        return general ? .heic : nil
    }
}
