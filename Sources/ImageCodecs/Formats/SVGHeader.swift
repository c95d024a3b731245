import Foundation

/// The size that an SVG declares (SVG 2 §8.2), in CSS pixels. The root element must begin in the first 4 KB, and at most 4 KB of
/// its tag are read.
enum SVGHeader {
    static func recognizes(_ bytes: ByteReader) -> Bool {
        start(bytes) != nil
    }

    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        guard let start = start(bytes), let part = bytes.part(from: start, count: 4096) else { return nil }
        let tag = ByteReader(UnsafeRawBufferPointer(rebasing: part.bytes.prefix { $0 != UInt8(ascii: ">") }))
        var (width, height) = (
            attribute("width", in: tag).flatMap(pixels), attribute("height", in: tag).flatMap(pixels)
        )
        // Most files have a width and a height, and don't need the view box.
        let box = width == nil || height == nil ? attribute("viewBox", in: tag).map(numbers) ?? [] : []
        if box.count == 4, box[2] > 0, box[3] > 0 {
            switch (width, height) {
            case (nil, nil): (width, height) = (box[2], box[3])
            case (nil, let known?): width = known * box[2] / box[3]
            case (let known?, nil): height = known * box[3] / box[2]
            default: break
            }
        }
        // The default size of replaced elements (CSS 2.2 §10.3.2).
        guard let width = whole(width ?? 300), let height = whole(height ?? 150) else { return nil }
        return HeaderFacts(width: width, height: height)
    }

    /// The offset of the root element.
    private static func start(_ bytes: ByteReader) -> Int? {
        guard let head = bytes.part(from: 0, count: 4096) else { return nil }
        // A byte order mark may come first.
        let first = head.bytes.firstIndex { !isSpace($0) && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }
        guard let first, head.byte(first) == UInt8(ascii: "<") else { return nil }
        return (first..<head.count).first { head.byte($0) == UInt8(ascii: "<") && head.has("<svg", at: $0) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// The value of an attribute.
    private static func attribute(_ name: StaticString, in tag: ByteReader) -> String? {
        for index in 1..<max(tag.count, 1) where isSpace(tag.bytes[index - 1]) && tag.has(name, at: index) {
            var rest = tag.bytes[(index + name.utf8CodeUnitCount)...].drop(while: isSpace)
            guard rest.popFirst() == UInt8(ascii: "=") else { continue }
            rest = rest.drop(while: isSpace)
            guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                continue
            }
            return String(decoding: rest.prefix { $0 != quote }, as: UTF8.self)
        }
        return nil
    }

    private static func numbers(_ text: String) -> [Double] {
        text.split { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }.compactMap { Double($0) }
    }

    private static let units: [(String, Double)] = [
        ("px", 1), ("pt", 4.0 / 3), ("pc", 16), ("mm", 96 / 25.4), ("cm", 960 / 25.4), ("in", 96), ("", 1),
    ]

    /// A length in CSS pixels; nil for percentages and for units that depend on fonts.
    private static func pixels(_ text: String) -> Double? {
        // Most lengths have no unit.
        if let number = Double(text) { return number > 0 ? number : nil }
        let text = text.trimmingCharacters(in: .whitespaces)
        for (unit, factor) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number > 0 else { continue }
            return number * factor
        }
        return nil
    }

    private static func whole(_ length: Double) -> Int? {
        length.isFinite && length > 0 && length < 1e9 ? max(1, Int(length.rounded(.up))) : nil
    }
}
