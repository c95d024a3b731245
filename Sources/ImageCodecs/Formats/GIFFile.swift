import Foundation

/// The blocks of a GIF file (GIF89a §17–27), without pixels.
package struct GIFFile {
    struct Frame {
        var area = PixelArea(x: 0, y: 0, size: PixelSize(width: 0, height: 0))
        /// In hundredths of a second.
        var delay = 0
        var disposal = FrameDisposal.keep
        var transparentIndex: UInt8?
        var isInterlaced = false
        /// The offset and number of the colours, three bytes each; nil if the file has no colour table for the frame.
        var palette: (offset: Int, count: Int)?
        /// The offset of the minimum code size, which the data sub-blocks follow.
        var dataOffset = 0
    }

    /// The logical screen, enlarged to hold the first frame as in browsers.
    let canvas: PixelSize
    /// The loop count of the Netscape extension; nil without the extension. 0 means forever.
    private var loops: Int?
    /// Whether the end of the file cuts off one of the blocks read so far.
    private(set) var isTruncated = false
    private let bytes: ByteReader
    private let globalPalette: (offset: Int, count: Int)?
    private var offset: Int

    init?(_ bytes: ByteReader) {
        guard let header = GIFHeader.read(bytes), let flags = bytes.byte(10) else { return nil }
        self.bytes = bytes
        canvas = PixelSize(width: header.width, height: header.height)
        globalPalette = flags & 0x80 != 0 ? (13, 2 << Int(flags & 7)) : nil
        offset = GIFHeader.firstBlock(flags)
    }

    /// How often the animation plays, according to the blocks read so far; 0 means forever. Without the extension the
    /// animation plays once. The number in the extension counts the repetitions after the first time, as in browsers.
    var loopCount: Int { loops.map { $0 == 0 ? 0 : $0 + 1 } ?? 1 }

    /// How often a GIF plays, according to its blocks up to the first frame; nil if the bytes are not a GIF.
    package static func loopCount(of data: Data) -> Int? {
        data.withUnsafeBytes { bytes in
            guard ImageFormat(ByteReader(bytes)) == .gif, var file = GIFFile(ByteReader(bytes)) else { return nil }
            _ = file.nextFrame()
            return file.loopCount
        }
    }

    /// The next frame; nil at the end of the file or at corrupt blocks.
    mutating func nextFrame() -> Frame? {
        var frame = Frame()
        while let mark = bytes.byte(offset) {
            switch mark {
            case 0x21: readExtension(&frame)
            case 0x2C: return readImage(&frame) ? frame : nil
            case 0x3B: return nil
            default: offset += 1  // Padding between blocks, which other decoders skip, too.
            }
        }
        return nil
    }

    private mutating func readExtension(_ frame: inout Frame) {
        let (label, start) = (bytes.byte(offset + 1), offset + 2)
        if label == 0xF9, let flags = bytes.byte(start + 1), let delay = bytes.little16(start + 2) {
            frame.delay = delay
            frame.disposal = FrameDisposal(gif: flags >> 2 & 7)
            frame.transparentIndex = flags & 1 == 1 ? bytes.byte(start + 4) : nil
        } else if label == 0xFF, bytes.has("NETSCAPE2.0", at: start + 1) || bytes.has("ANIMEXTS1.0", at: start + 1) {
            if bytes.byte(start + 12) == 3, bytes.byte(start + 13) == 1 { loops = bytes.little16(start + 14) }
        }
        skipSubBlocks(at: start)
    }

    private mutating func readImage(_ frame: inout Frame) -> Bool {
        guard let area = GIFHeader.area(bytes, at: offset), let flags = bytes.byte(offset + 9) else {
            isTruncated = true
            return false
        }
        frame.area = area
        frame.isInterlaced = flags & 0x40 != 0
        offset += 10
        frame.palette = globalPalette
        if flags & 0x80 != 0 {
            frame.palette = (offset, 2 << Int(flags & 7))
            offset += (2 << Int(flags & 7)) * 3
        }
        frame.dataOffset = offset
        skipSubBlocks(at: offset + 1)
        return true
    }

    private mutating func skipSubBlocks(at start: Int) {
        var blocks = GIFSubBlocks(bytes, at: start)
        blocks.skip()
        offset = blocks.offset
        isTruncated = isTruncated || blocks.isTruncated
    }
}

extension FrameDisposal {
    fileprivate init(gif method: UInt8) {
        switch method {
        case 2: self = .clear
        case 3, 4: self = .restore  // browsers restore for both
        default: self = .keep
        }
    }
}

/// The bytes of a chain of sub-blocks (GIF89a §15). Each block begins with its length, 1 to 255; 0 ends the chain.
struct GIFSubBlocks: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte; after the last byte, the offset behind the chain.
    private(set) var offset: Int
    private var left = 0
    /// Whether the file ended inside the chain.
    private(set) var isTruncated = false
    private var isOver = false

    init(_ bytes: ByteReader, at offset: Int) {
        self.bytes = bytes.bytes
        self.offset = offset
    }

    mutating func next() -> UInt8? {
        if left == 0, !open() { return nil }
        left -= 1
        offset += 1
        return bytes[offset - 1]
    }

    /// Skips the rest of the chain.
    mutating func skip() {
        repeat {
            offset += left
            left = 0
        } while open()
    }

    private mutating func open() -> Bool {
        guard !isOver else { return false }
        guard offset < bytes.count, offset + Int(bytes[offset]) < bytes.count else {
            (isOver, isTruncated) = (true, true)
            return false
        }
        left = Int(bytes[offset])
        offset += 1
        isOver = left == 0
        return !isOver
    }
}
