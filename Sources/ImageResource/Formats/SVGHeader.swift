import Foundation

/// The size that an SVG says it has (SVG 2 §8.2), in CSS pixels. Only its first 4 KB are looked at.
enum SVGHeader {
    static func recognizes(_ bytes: ByteReader) -> Bool {
        start(bytes) != nil
    }

    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        guard let start = start(bytes), let part = bytes.part(from: start, count: 4096) else { return nil }
        let end = part.bytes.firstIndex(of: UInt8(ascii: ">")) ?? part.count
        let tag = String(decoding: part.bytes[..<end], as: UTF8.self)
        let box = attribute("viewBox", tag).map(numbers) ?? []
        var (width, height) = (attribute("width", tag).flatMap(pixels), attribute("height", tag).flatMap(pixels))
        if box.count == 4, box[2] > 0, box[3] > 0 {
            switch (width, height) {
            case (nil, nil): (width, height) = (box[2], box[3])
            case (nil, let known?): width = known * box[2] / box[3]
            case (let known?, nil): height = known * box[3] / box[2]
            default: break
            }
        }
        // What replaced elements measure by default (CSS 2.2 §10.3.2).
        guard let width = whole(width ?? 300), let height = whole(height ?? 150) else { return nil }
        return HeaderFacts(width: width, height: height)
    }

    /// Where the root element begins.
    private static func start(_ bytes: ByteReader) -> Int? {
        guard let head = bytes.part(from: 0, count: 4096) else { return nil }
        let marks: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D]
        guard let first = head.bytes.firstIndex(where: { !marks.contains($0) }), head.byte(first) == UInt8(ascii: "<")
        else { return nil }
        return (first..<head.count).first { head.byte($0) == UInt8(ascii: "<") && head.has("<svg", at: $0) }
    }

    private static func attribute(_ name: String, _ tag: String) -> String? {
        let text = Array(tag.unicodeScalars)
        let name = Array(name.unicodeScalars)
        for index in text.indices where text[index...].starts(with: name) {
            guard index > 0, text[index - 1].properties.isWhitespace else { continue }
            var rest = text[(index + name.count)...].drop { $0.properties.isWhitespace }
            guard rest.popFirst() == "=" else { continue }
            rest = rest.drop { $0.properties.isWhitespace }
            guard let quote = rest.popFirst(), quote == "\"" || quote == "'" else { continue }
            return String(String.UnicodeScalarView(rest.prefix { $0 != quote }))
        }
        return nil
    }

    private static func numbers(_ text: String) -> [Double] {
        text.split { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }.compactMap { Double($0) }
    }

    /// A length in CSS pixels; nil for percentages, and what depends on fonts.
    private static func pixels(_ text: String) -> Double? {
        let units: [(String, Double)] = [
            ("px", 1), ("pt", 4.0 / 3), ("pc", 16), ("mm", 96 / 25.4), ("cm", 960 / 25.4), ("in", 96), ("", 1),
        ]
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
