#if AVIF || HEIC
    import Foundation

    /// The items of a HEIF file, HEIC or AVIF, and their references (ISO/IEC 14496-12 §8.11), read as libheif reads them.
    ///
    /// Anything that two readers could interpret differently, such as a duplicate of a box that must be unique, counts as
    /// corruption. Otherwise the library could decode something else than what was checked here.
    struct HEIFItems {
        let primary: Int
        private let properties: [Boxes.Box]
        private let associations: ByteReader
        private let types: [Int: ByteReader]
        private let contents: [Int: ByteReader]
        private let references: [Reference]
        /// The numbers of all items in the order in which the boxes of the file first mention them.
        let mentioned: [Int]

        private struct Reference {
            let type: ByteReader
            let from: Int
            let to: [Int]
        }

        init?(_ file: ByteReader) {
            guard let meta = Self.only("meta", in: file, from: 0), let boxes = Self.all(in: meta),
                let primary = Self.only("pitm", in: meta).flatMap(HEIFHeader.itemNumber),
                let entries = Self.only("iinf", in: meta).flatMap(Self.entries), let types = Self.types(entries),
                let places = Self.only("iloc", in: meta).flatMap(ItemPlaces.init),
                let itemData = boxes.first(where: { $0.has("idat") })?.content ?? meta.part(from: 0, count: 0),
                let references = Self.references(meta), let description = Self.only("iprp", in: meta),
                let properties = Self.only("ipco", in: description, from: 0).flatMap({ Self.all(in: $0, from: 0) }),
                let associations = Self.only("ipma", in: description, from: 0),
                let described = Self.described(associations)
            else { return nil }
            self.primary = primary
            self.types = types
            var known: Set<Int> = []
            mentioned = boxes.flatMap { box in
                if box.has("iinf") { return entries.map(\.id) }
                if box.has("iloc") { return places.order }
                if box.has("iprp") { return described }
                return box.has("iref") ? references.flatMap(Self.mentioned) : []
            }.filter { known.insert($0).inserted }
            self.contents = places.contents(file, itemData: itemData)
            self.references = references
            self.properties = properties
            self.associations = associations
        }

        func type(of item: Int, is name: StaticString) -> Bool { types[item]?.has(name, at: 0) ?? false }

        func content(of item: Int) -> ByteReader? { contents[item] }

        /// The properties that configure an item's decoder.
        func configurations(of item: Int) -> [ByteReader] {
            (HEIFAssociations(associations)?.properties(of: item).first ?? []).compactMap { number in
                properties.indices.contains(number - 1) ? properties[number - 1] : nil
            }.filter { $0.has("hvcC") }.map(\.content)
        }

        /// A copy of the file without crops, rotations and mirrorings; nil if the file has none of them, or no auxiliary items.
        ///
        /// The transformations of the image hold for its alpha, too, whether or not the file repeats them there.
        func withoutTransformations(_ file: ByteReader) -> Data? {
            let numbers = properties.indices.filter { index in
                ["clap", "irot", "imir"].contains { properties[index].has($0) }
            }
            guard !auxiliaries.isEmpty, let start = file.offset(of: associations),
                let places = HEIFAssociations(associations)?.places(of: Set(numbers.map { $0 + 1 })), !places.isEmpty
            else { return nil }
            var data = Data(file.bytes)
            for place in places {
                // The number 0 stands for no property (ISO/IEC 23008-12 §9.3).
                data.resetBytes(in: start + place.lowerBound..<start + place.upperBound)
            }
            return data
        }

        /// The parts of an item: the tiles of a grid, in order.
        func parts(of item: Int) -> [Int] {
            references.first { $0.from == item && $0.type.has("dimg", at: 0) }?.to ?? []
        }

        /// The item that each part belongs to: the last one that names it.
        var wholes: [Int: Int] {
            let all = references.filter { $0.type.has("dimg", at: 0) }
            return Dictionary(all.flatMap { whole in whole.to.map { ($0, whole.from) } }) { $1 }
        }

        /// The items that are grids.
        var grids: [Int] { types.keys.filter { type(of: $0, is: "grid") } }

        /// The auxiliary items of each item, such as its alpha.
        var auxiliaries: [Int: [Int]] {
            let all = references.filter { $0.type.has("auxl", at: 0) }
            return Dictionary(all.map { ($0.from, $0.to) }, uniquingKeysWith: +)
        }
    }

    extension HEIFItems {
        /// The boxes inside a box; nil if the walk did not reach the end.
        private static func all(in bytes: ByteReader, from offset: Int = 4) -> [Boxes.Box]? {
            var (boxes, found) = (Boxes(bytes, from: offset), [Boxes.Box]())
            while let box = boxes.next() { found.append(box) }
            return boxes.isAtEnd ? found : nil
        }

        private static func only(_ name: StaticString, in bytes: ByteReader, from offset: Int = 4) -> ByteReader? {
            let found = all(in: bytes, from: offset)?.filter { $0.has(name) }
            return found?.count == 1 ? found?[0].content : nil
        }

        /// The numbers and types of items. Older entries have no type.
        private static func entries(_ box: ByteReader) -> [(id: Int, type: ByteReader)]? {
            guard let version = box.byte(0), let boxes = all(in: box, from: version == 0 ? 6 : 8) else { return nil }
            let contents = boxes.filter { $0.has("infe") }.map(\.content)
            let entries = contents.compactMap { entry -> (id: Int, type: ByteReader)? in
                guard let version = entry.byte(0) else { return nil }
                let isWide = version > 2
                guard let id = isWide ? entry.big32(4) : entry.big16(4),
                    let type = version < 2 ? entry.part(from: 0, count: 0) : entry.part(from: isWide ? 10 : 8, count: 4)
                else { return nil }
                return (id, type)
            }
            return entries.count == contents.count ? entries : nil
        }

        /// The types of items by number; nil if an item has two.
        private static func types(_ entries: [(id: Int, type: ByteReader)]) -> [Int: ByteReader]? {
            let types = Dictionary(entries.map { ($0.id, $0.type) }) { first, _ in first }
            return types.count == entries.count ? types : nil
        }

        /// The items that have properties, in the order of the file; nil if there are too many, or some are missing.
        private static func described(_ associations: ByteReader) -> [Int]? {
            let items = HEIFAssociations(associations)?.map(\.item)
            return items?.count == associations.big32(4) ? items : nil
        }

        /// The items that libavif 0.11 creates when it reads a reference.
        private static func mentioned(_ reference: Reference) -> [Int] {
            reference.to.flatMap { reference.type.has("dimg", at: 0) ? [reference.from, $0] : [reference.from] }
        }

        private static func references(_ meta: ByteReader) -> [Reference]? {
            guard let boxes = all(in: meta)?.filter({ $0.has("iref") }), boxes.count <= 1 else { return nil }
            guard let box = boxes.first?.content else { return [] }
            guard let version = box.byte(0), let parts = all(in: box) else { return nil }
            let references = parts.compactMap { reference($0, isWide: version > 0) }
            return references.count == parts.count ? references : nil
        }

        private static func reference(_ box: Boxes.Box, isWide: Bool) -> Reference? {
            let (bytes, width) = (box.content, isWide ? 4 : 2)
            func id(_ offset: Int) -> Int? { isWide ? bytes.big32(offset) : bytes.big16(offset) }
            guard let from = id(0), let count = bytes.big16(width), bytes.count == width + 2 + count * width,
                let type = box.header.part(from: 4, count: 4)
            else { return nil }
            return Reference(type: type, from: from, to: (0..<count).compactMap { id(width + 2 + $0 * width) })
        }
    }

    /// The locations of items (ISO/IEC 14496-12 §8.11.3) that have one extent in the file.
    private struct ItemPlaces {
        private struct Place {
            let offset: Int
            let length: Int
            /// Offsets count from the item data box instead of the file.
            let isInItemData: Bool
        }

        private var places: [Int: Place] = [:]
        /// The item numbers in stored order.
        private(set) var order: [Int] = []

        init?(_ box: ByteReader) {
            guard let version = box.byte(0), version <= 2, let sizes = box.big16(4) else { return nil }
            var fields = Fields(bytes: box, offset: 6)
            guard let count = fields.number(version < 2 ? 2 : 4) else { return nil }
            for _ in 0..<min(count, HeaderLimit.parts) {
                guard let id = fields.number(version < 2 ? 2 : 4), places[id] == nil,
                    let method = version == 0 ? 0 : fields.number(2).map({ $0 & 15 }), fields.number(2) != nil,
                    let base = fields.number(sizes >> 4 & 15), let pieces = fields.number(2)
                else { return nil }
                order.append(id)
                for _ in 0..<pieces {
                    guard version < 2 || fields.number(sizes & 15) != nil, let offset = fields.number(sizes >> 12),
                        let length = fields.number(sizes >> 8 & 15)
                    else { return nil }
                    let (start, overflow) = base.addingReportingOverflow(offset)
                    guard pieces == 1, method < 2, !overflow else { continue }
                    places[id] = Place(offset: start, length: length, isInItemData: method == 1)
                }
            }
            guard count <= HeaderLimit.parts else { return nil }
        }

        func contents(_ file: ByteReader, itemData: ByteReader) -> [Int: ByteReader] {
            places.compactMapValues { place in
                let space = place.isInItemData ? itemData : file
                guard space.has(place.length, at: place.offset) else { return nil }
                return space.part(from: place.offset, count: place.length)
            }
        }

        /// Reads numbers in sequence. The box itself declares their sizes.
        private struct Fields {
            let bytes: ByteReader
            var offset: Int

            mutating func number(_ size: Int) -> Int? {
                defer { offset += size }
                switch size {
                case 0: return 0
                case 2: return bytes.big16(offset)
                case 4: return bytes.big32(offset)
                case 8: return bytes.big64(offset)
                default: return nil
                }
            }
        }
    }
#endif
