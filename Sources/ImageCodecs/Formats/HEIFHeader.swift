/// The header of HEIF, the container of AVIF and HEIC: nested boxes (ISO/IEC 14496-12 §4.2, 23008-12 §6).
enum HEIFHeader {
    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        guard let meta = box("meta", in: bytes, from: 0), let items = box("iprp", in: meta, from: 4),
            let properties = box("ipco", in: items, from: 0)
        else { return nil }
        guard let item = primaryItem(meta), let wanted = associations(of: item, in: items) else { return nil }
        return facts(of: properties, wanted: wanted)
    }

    private static func primaryItem(_ meta: ByteReader) -> Int? {
        box("pitm", in: meta, from: 4).flatMap(itemNumber)
    }

    /// The item that a `pitm` box names (ISO/IEC 14496-12 §8.11.4).
    static func itemNumber(_ box: ByteReader) -> Int? {
        box.byte(0) == 0 ? box.big16(4) : box.big32(4)
    }

    /// Looks at the properties with the wanted numbers: takes the size from the first `ispe`, and applies the crops, rotations
    /// and mirrorings in their order.
    private static func facts(of properties: ByteReader, wanted: [Int]) -> HeaderFacts? {
        let all = Array(Boxes(properties, from: 0))
        let chosen = wanted.compactMap { all.indices.contains($0 - 1) ? all[$0 - 1] : nil }
        guard let size = chosen.first(where: { $0.has("ispe") })?.content, let width = size.big32(4),
            let height = size.big32(8)
        else { return nil }
        var transform = HEIFTransform(PixelSize(width: width, height: height))
        for property in chosen { transform.apply(property) }
        return HeaderFacts(width: width, height: height, orientation: transform.orientation, crop: transform.crop)
    }

    /// The numbers of an item's properties, from 1. There may be several `ipma` boxes, of different versions or flags, but
    /// only one of them may contain the item, and only once (ISO/IEC 23008-12 §9.3). Otherwise libraries disagree about its
    /// properties, so the result is nil.
    private static func associations(of item: Int, in items: ByteReader) -> [Int]? {
        let boxes = Boxes(items, from: 0).filter { $0.has("ipma") }.compactMap { HEIFAssociations($0.content) }
        let found = boxes.flatMap { $0.properties(of: item) }
        return found.count == 1 ? found[0] : nil
    }

    private static func box(_ name: StaticString, in bytes: ByteReader, from offset: Int) -> ByteReader? {
        Boxes(bytes, from: offset).first { $0.has(name) }?.content
    }
}

/// Iterates over the entries of an `ipma` box (ISO/IEC 23008-12 §9.3), at most `HeaderLimit.parts`.
struct HEIFAssociations: Sequence, IteratorProtocol {
    struct Entry {
        let item: Int
        fileprivate let offset: Int
        fileprivate let count: Int
    }

    private let box: ByteReader
    private let version: UInt8
    private let isWide: Bool
    private var offset = 8
    private var left: Int

    init?(_ box: ByteReader) {
        guard let version = box.byte(0), let flags = box.byte(3), let count = box.big32(4) else { return nil }
        self.box = box
        self.version = version
        isWide = flags & 1 == 1
        left = Swift.min(count, HeaderLimit.parts)
    }

    mutating func next() -> Entry? {
        let width = version < 1 ? 2 : 4
        guard left > 0, let item = width == 2 ? box.big16(offset) : box.big32(offset),
            let count = box.byte(offset + width).map(Int.init)
        else { return nil }
        let entry = Entry(item: item, offset: offset + width + 1, count: count)
        offset = entry.offset + count * (isWide ? 2 : 1)
        left -= 1
        return entry
    }

    /// The places of these property numbers in the box.
    func places(of numbers: Set<Int>) -> [Range<Int>] {
        let width = isWide ? 2 : 1
        return flatMap { entry in
            zip(properties(entry), 0...).filter { numbers.contains($0.0) }.map { _, index in
                entry.offset + index * width..<entry.offset + (index + 1) * width
            }
        }
    }

    /// The numbers of an item's properties, from 1, in each of its entries.
    func properties(of item: Int) -> [[Int]] { filter { $0.item == item }.map(properties) }

    /// The numbers of an entry's properties, from 1.
    func properties(_ entry: Entry) -> [Int] {
        (0..<entry.count).compactMap { index in
            isWide
                ? box.big16(entry.offset + index * 2).map { $0 & 0x7FFF }
                : box.byte(entry.offset + index).map { Int($0 & 0x7F) }
        }
    }
}
