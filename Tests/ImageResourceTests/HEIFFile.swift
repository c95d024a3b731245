import Foundation

/// Writes files of the HEIF container (ISO/IEC 14496-12 §8.11, 23008-12), whatever it is told to.
struct HEIFFile {
    typealias Bytes = [UInt8]

    struct Item {
        var type = "hvc1"
        var data: Bytes = []
        /// The numbers of its properties, from 1.
        var properties: Bytes = []
    }

    struct Reference {
        let type: String
        let from: Int
        let to: [Int]
    }

    /// Their numbers are 1, 2, 3, …; the first is the primary one.
    var items: [Item] = []
    /// Whole boxes.
    var properties: [Bytes] = []
    var references: [Reference] = []
    var brand = "heic"
    /// Whether the items lie in the box that describes them, which then goes on to the end of the file without a length.
    var isOpenEnded = false

    var data: Data {
        let start = Self.box("ftyp", Bytes("\(brand)\0\0\0\0mif1\(brand)".utf8))
        if isOpenEnded { return Data(start + [0, 0, 0, 0] + meta(from: 0).dropFirst(4)) }
        let length = start.count + meta(from: 0).count + 8
        return Data(start + meta(from: length) + Self.box("mdat", Bytes(items.map(\.data).joined())))
    }

    private func meta(from offset: Int) -> Bytes {
        var content: Bytes = [0, 0, 0, 0]
        content += Self.box("hdlr", Bytes(repeating: 0, count: 8) + Bytes("pict".utf8) + Bytes(repeating: 0, count: 13))
        content += Self.box("pitm", [0, 0, 0, 0, 0, 1])
        content += entries
        content += places(from: offset)
        if !references.isEmpty { content += links }
        content += Self.box("iprp", Self.box("ipco", Bytes(properties.joined())) + associations)
        if isOpenEnded { content += Self.box("idat", Bytes(items.map(\.data).joined())) }
        return Self.box("meta", content)
    }

    private var entries: Bytes {
        var content: Bytes = [0, 0, 0, 0] + Self.big16(items.count)
        for (index, item) in items.enumerated() {
            content += Self.box("infe", [2, 0, 0, 0] + Self.big16(index + 1) + [0, 0] + Bytes(item.type.utf8) + [0])
        }
        return Self.box("iinf", content)
    }

    private func places(from start: Int) -> Bytes {
        var content: Bytes = [1, 0, 0, 0, 0x44, 0] + Self.big16(items.count)
        var offset = start
        for (index, item) in items.enumerated() {
            content +=
                Self.big16(index + 1) + [0, isOpenEnded ? 1 : 0, 0, 0, 0, 1] + Self.big32(offset)
                + Self.big32(item.data.count)
            offset += item.data.count
        }
        return Self.box("iloc", content)
    }

    private var associations: Bytes {
        var content: Bytes = [0, 0, 0, 0] + Self.big32(items.count)
        for (index, item) in items.enumerated() {
            content += Self.big16(index + 1) + [UInt8(item.properties.count)] + item.properties
        }
        return Self.box("ipma", content)
    }

    private var links: Bytes {
        var content: Bytes = [0, 0, 0, 0]
        for link in references {
            content += Self.box(link.type, ([link.from, link.to.count] + link.to).flatMap(Self.big16))
        }
        return Self.box("iref", content)
    }

    static func box(_ name: String, _ content: Bytes) -> Bytes {
        big32(content.count + 8) + Bytes(name.utf8) + content
    }

    /// The property of a picture's size.
    static func size(_ width: Int, _ height: Int) -> Bytes {
        box("ispe", [0, 0, 0, 0] + big32(width) + big32(height))
    }

    static func big16(_ value: Int) -> Bytes { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
    static func big32(_ value: Int) -> Bytes { big16(value >> 16) + big16(value) }
}
