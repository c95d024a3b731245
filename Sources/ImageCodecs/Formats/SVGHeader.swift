import Foundation

/// The size that an SVG declares (SVG 2 §8.2), in CSS pixels. The root element must begin in the first 4 KB, and at most 4 KB of
/// its tag are read.
enum SVGHeader {
    static func recognizes(_ bytes: ByteReader) -> Bool {
        SVGMarkup.root(bytes) != nil
    }

    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        guard let size = size(bytes), let width = whole(size.width), let height = whole(size.height) else { return nil }
        return HeaderFacts(width: width, height: height)
    }

    /// The declared size, which may be a fraction; nil if the root element is no SVG.
    static func size(_ bytes: ByteReader) -> (width: Double, height: Double)? {
        guard let start = SVGMarkup.root(bytes), let tag = bytes.part(from: start, count: 4096) else { return nil }
        var (width, height) = lengths(tag)
        // Most files have a width and a height, and don't need the view box.
        let box = width == nil || height == nil ? value("viewBox", in: tag).map(numbers) ?? [] : []
        if box.count == 4, box[2] > 0, box[3] > 0 {
            switch (width, height) {
            case (nil, nil): (width, height) = (box[2], box[3])
            case (nil, let known?): width = known * box[2] / box[3]
            case (let known?, nil): height = known * box[3] / box[2]
            default: break
            }
        }
        // The default size of replaced elements (CSS 2.2 §10.3.2).
        return (width ?? 300, height ?? 150)
    }

    /// The attributes `width` and `height`. A length in the attribute `style` takes precedence (SVG 2 §6.6).
    private static func lengths(_ tag: ByteReader) -> (width: Double?, height: Double?) {
        var size = (width: value("width", in: tag).flatMap(pixels), height: value("height", in: tag).flatMap(pixels))
        for declaration in value("style", in: tag)?.split(separator: ";") ?? [] {
            let parts = declaration.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let length = pixels(String(parts[1])) else { continue }
            switch parts[0].trimmingCharacters(in: .whitespacesAndNewlines).lowercased() {
            case "width": size.width = length
            case "height": size.height = length
            default: break
            }
        }
        return size
    }

    private static func value(_ name: StaticString, in tag: ByteReader) -> String? {
        let found = SVGAttributes(tag).first { $0.name.count == name.utf8CodeUnitCount && $0.name.has(name, at: 0) }
        return found.map { String(decoding: $0.value.bytes, as: UTF8.self) }
    }

    private static func numbers(_ text: String) -> [Double] {
        text.split { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }.compactMap { Double($0) }
    }

    /// CSS pixels per unit, as fractions. Rounding a quotient would make some lengths larger than they are.
    private static let units: [(name: String, pixels: Double, per: Double)] = [
        ("px", 1, 1), ("pt", 4, 3), ("pc", 16, 1), ("mm", 96, 25.4), ("cm", 96, 2.54), ("in", 96, 1),
    ]

    /// A length in CSS pixels; nil for percentages, for units that depend on fonts, and for `Q`, which librsvg does not know.
    private static func pixels(_ text: String) -> Double? {
        // Most lengths have no unit.
        if let number = Double(text) { return number > 0 ? number : nil }
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
        let unit = units.first { text.hasSuffix($0.name) }
        guard let number = Double(text.dropLast(unit?.name.count ?? 0)), number > 0 else { return nil }
        return unit.map { number * $0.pixels / $0.per } ?? number
    }

    /// Rounds up, except for what the computation may have added.
    private static func whole(_ length: Double) -> Int? {
        length.isFinite && length > 0 && length < 1e9 ? max(1, Int((length - 1e-6).rounded(.up))) : nil
    }
}

/// The parts of an XML file before its root element (XML 1.0 §2.8).
private enum SVGMarkup {
    /// The offset of the root element, if that is `svg`.
    static func root(_ bytes: ByteReader) -> Int? {
        guard let head = bytes.part(from: 0, count: 4096) else { return nil }
        var offset = head.has("\u{FEFF}", at: 0) ? 3 : 0
        while let byte = head.byte(offset) {
            if byte.isXMLSpace {
                offset += 1
            } else if head.has("<svg", at: offset) {
                return head.byte(offset + 4).map { $0.endsXMLName || $0 == UInt8(ascii: ":") } ?? true ? offset : nil
            } else if let end = endOfRemark(head, at: offset) ?? endOfDeclaration(head, at: offset) {
                offset = end
            } else {
                return nil
            }
        }
        return nil
    }

    /// The offset after a comment or processing instruction; nil if there is none, or if it does not end.
    private static func endOfRemark(_ head: ByteReader, at offset: Int) -> Int? {
        if head.has("<!--", at: offset) { return end(of: "-->", in: head, from: offset + 4) }
        if head.has("<?", at: offset) { return end(of: "?>", in: head, from: offset + 2) }
        return nil
    }

    private static func end(of text: StaticString, in head: ByteReader, from start: Int) -> Int? {
        (start..<max(start, head.count)).first { head.has(text, at: $0) }.map { $0 + text.utf8CodeUnitCount }
    }

    /// The offset after a document type declaration, which may contain further declarations in brackets.
    private static func endOfDeclaration(_ head: ByteReader, at start: Int) -> Int? {
        guard head.has("<!DOCTYPE", at: start) else { return nil }
        var (offset, isInBrackets) = (start + 9, false)
        while let byte = head.byte(offset) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let end = (offset + 1..<head.count).first(where: { head.byte($0) == byte }) else { return nil }
                offset = end
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ">") where !isInBrackets: return offset + 1
            case UInt8(ascii: "<"): offset = endOfRemark(head, at: offset).map { $0 - 1 } ?? offset
            default: break
            }
            offset += 1
        }
        return nil
    }
}

/// The attributes of a tag (XML 1.0 §3.1), up to its end or to the first one that is not well-formed.
private struct SVGAttributes: Sequence, IteratorProtocol {
    private var rest: Slice<UnsafeRawBufferPointer>

    /// - Parameter tag: Begins with the tag. What follows the tag does not matter.
    init(_ tag: ByteReader) {
        rest = tag.bytes[...].drop { !$0.endsXMLName }
    }

    mutating func next() -> (name: ByteReader, value: ByteReader)? {
        rest = rest.drop(while: \.isXMLSpace)
        let name = rest.prefix { !$0.endsXMLName && $0 != UInt8(ascii: "=") }
        rest = rest.dropFirst(name.count).drop(while: \.isXMLSpace)
        guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else { return nil }
        rest = rest.drop(while: \.isXMLSpace)
        guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        let value = rest.prefix { $0 != quote }
        rest = rest.dropFirst(value.count)
        guard rest.popFirst() != nil else { return nil }
        return (
            ByteReader(UnsafeRawBufferPointer(rebasing: name)), ByteReader(UnsafeRawBufferPointer(rebasing: value))
        )
    }
}

extension UInt8 {
    fileprivate var isXMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }

    fileprivate var endsXMLName: Bool { isXMLSpace || self == UInt8(ascii: ">") || self == UInt8(ascii: "/") }
}
