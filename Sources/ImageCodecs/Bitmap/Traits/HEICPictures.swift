#if HEIC
    /// The coded pictures of a HEIC file's image: the image itself or the tiles of a grid (ISO/IEC 23008-12 §6.6.2.3), and
    /// their alpha pictures.
    ///
    /// Their sizes are in their streams, and may differ from the header's. Overlays, nested grids and other codecs than
    /// HEVC are not supported.
    struct HEICPictures {
        /// The bytes that a decode takes in addition to its picture.
        var workingBytes: Int {
            canvasBytes > .max - pictureBytes ? .max : canvasBytes + pictureBytes
        }

        let items: HEIFItems
        private var pictureBytes = 0
        private var canvasBytes = 0

        /// Returns nil if the file has unsupported pictures, or if they can't be determined.
        init?(_ file: ByteReader) {
            guard let items = HEIFItems(file) else { return nil }
            self.items = items
            let auxiliaries = items.auxiliaries
            // Auxiliary items of auxiliary items could form a cycle, so they are rejected.
            guard auxiliaries.values.joined().allSatisfy({ auxiliaries[$0] == nil }),
                ([items.primary] + auxiliaries.keys).allSatisfy({ add($0, of: items) })
            else { return nil }
        }

        /// Whether the picture, or the first tile of its grid, has no chroma (ISO/IEC 14496-15 §8.3.2.1).
        var isGrey: Bool {
            let item = items.parts(of: items.primary).first ?? items.primary
            return items.configurations(of: item).first?.byte(16).map { $0 & 3 == 0 } ?? false
        }

        private mutating func add(_ item: Int, of items: HEIFItems) -> Bool {
            items.type(of: item, is: "grid") ? addGrid(item, of: items) : addPicture(item, of: items) != nil
        }

        /// Returns the number of pixels of a picture; nil if it is not supported.
        private mutating func addPicture(_ item: Int, of items: HEIFItems) -> Int? {
            guard items.type(of: item, is: "hvc1"), let content = items.content(of: item) else { return nil }
            var stream = HEVCStream()
            for configuration in items.configurations(of: item) {
                guard stream.add(configuration: configuration) else { return nil }
            }
            guard stream.add(item: content), stream.pictures == 1 else { return nil }
            pictureBytes = max(pictureBytes, Self.bytes(stream))
            return stream.largestArea
        }

        /// Per pixel of the picture: planes of up to 16 bits, the decoder's metadata, libheif's copy of the planes, and RGBA.
        /// Per reference picture: planes and metadata again. Per parameter set: tables.
        private static func bytes(_ stream: HEVCStream) -> Int {
            let perPixel = 16 + (stream.canRefer ? 16 * 8 : 0) + stream.pictureParameterSets
            let (bytes, overflow) = stream.largestArea.multipliedReportingOverflow(by: perPixel)
            return overflow ? .max : bytes
        }

        /// Per pixel of the grid: planes and RGBA. Each tile is decoded completely, so the tiles together may
        /// not be much larger than the grid.
        private mutating func addGrid(_ item: Int, of items: HEIFItems) -> Bool {
            guard let size = items.content(of: item).flatMap(Self.size), size.area < 1 << 32 else { return false }
            canvasBytes = max(canvasBytes, 16 * size.area)
            let tiles = items.parts(of: item)
            var areas: [Int: Int] = [:]
            for tile in tiles where areas[tile] == nil {
                guard let area = addPicture(tile, of: items) else { return false }
                areas[tile] = area
            }
            return tiles.reduce(0) { $0 + (areas[$1] ?? 0) } <= 4 * size.area + 1 << 22
        }

        private static func size(_ grid: ByteReader) -> PixelSize? {
            guard let flags = grid.byte(1) else { return nil }
            let isWide = flags & 1 == 1
            guard let width = isWide ? grid.big32(4) : grid.big16(4),
                let height = isWide ? grid.big32(8) : grid.big16(6)
            else { return nil }
            return PixelSize(width: width, height: height)
        }
    }
#endif
