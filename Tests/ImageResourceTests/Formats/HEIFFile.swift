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
    /// The boxes that describe the items, in the order in which they are written.
    var order = ["pitm", "iinf", "iloc", "iref", "iprp"]
    /// The numbers of the items in the order in which `iinf` and `iloc` list them; nil if they do so by number.
    var listing: [Int]?
    /// The numbers of the items of each `ipma` box; nil if there is one box, of all items.
    var associated: [[Int]]?
    /// A box before the one that describes the items.
    var movie: Bytes = []
    /// Whether the items lie in the box that describes them, which then goes on to the end of the file without a length.
    var isOpenEnded = false

    var data: Data {
        let start = Self.box("ftyp", Bytes("\(brand)\0\0\0\0mif1\(brand)".utf8)) + movie
        if isOpenEnded { return Data(start + [0, 0, 0, 0] + meta(from: 0).dropFirst(4)) }
        let length = start.count + meta(from: 0).count + 8
        return Data(start + meta(from: length) + Self.box("mdat", Bytes(items.map(\.data).joined())))
    }

    private func meta(from offset: Int) -> Bytes {
        var content: Bytes = [0, 0, 0, 0]
        content += Self.box("hdlr", Bytes(repeating: 0, count: 8) + Bytes("pict".utf8) + Bytes(repeating: 0, count: 13))
        content += order.flatMap { box(named: $0, dataFrom: offset) }
        if isOpenEnded { content += Self.box("idat", Bytes(items.map(\.data).joined())) }
        return Self.box("meta", content)
    }

    private func box(named name: String, dataFrom offset: Int) -> Bytes {
        switch name {
        case "pitm": return Self.box(name, [0, 0, 0, 0, 0, 1])
        case "iinf": return entries
        case "iloc": return places(from: offset)
        case "iref": return references.isEmpty ? [] : links
        default: return Self.box("iprp", Self.box("ipco", Bytes(properties.joined())) + associations)
        }
    }

    private var listed: [Int] { listing ?? Array(1..<items.count + 1) }

    private var entries: Bytes {
        var content: Bytes = [0, 0, 0, 0] + Self.big16(items.count)
        for number in listed {
            let type = Bytes(items[number - 1].type.utf8)
            content += Self.box("infe", [2, 0, 0, 0] + Self.big16(number) + [0, 0] + type + [0])
        }
        return Self.box("iinf", content)
    }

    private func places(from start: Int) -> Bytes {
        var content: Bytes = [1, 0, 0, 0, 0x44, 0] + Self.big16(items.count)
        for number in listed {
            let offset = start + items[..<(number - 1)].reduce(0) { $0 + $1.data.count }
            content +=
                Self.big16(number) + [0, isOpenEnded ? 1 : 0, 0, 0, 0, 1] + Self.big32(offset)
                + Self.big32(items[number - 1].data.count)
        }
        return Self.box("iloc", content)
    }

    private var associations: Bytes {
        (associated ?? [Array(1..<items.count + 1)]).enumerated().flatMap { version, numbers in
            var content = [UInt8(version), 0, 0, 0] + Self.big32(numbers.count)
            for number in numbers {
                let properties = items[number - 1].properties
                content += (version == 0 ? Self.big16(number) : Self.big32(number)) + [UInt8(properties.count)]
                content += properties
            }
            return Self.box("ipma", content)
        }
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
