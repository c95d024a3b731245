import Foundation
import SynchronizerSupport

/// Composes the frames of an animation on one canvas, each over those before it.
///
/// To show the frame after the current one, the compositor draws only that frame. To go back, it draws all frames from the last
/// one that hides everything beneath it. A compositor belongs to one thread at a time.
final class FrameCompositor {
    private let decoder: any AnimationDecoder
    private let canvas: PixelBuffer
    private let colours: ColorTransform?
    private var current: Int?
    private var isClear = true
    /// The pixels that the current frame covers, if its disposal restores them.
    private var covered: (area: PixelArea, pixels: PixelBuffer)?

    init(_ decoder: any AnimationDecoder) throws {
        self.decoder = decoder
        colours = decoder.colourTransform()
        canvas = try PixelBuffer(decoder.canvas, cleared: true)
    }

    /// Returns the canvas showing a frame. It is valid until the next call.
    func canvas(showing index: Int) throws -> PixelBuffer {
        if current == index { return canvas }
        let following = current.map { $0 < index ? $0 + 1 : 0 } ?? 0
        let next = Self.start(of: index, noEarlierThan: following, in: decoder.frames, canvas: canvas.size)
        if let current, next == current + 1 {
            dispose(of: current)
        } else if !isClear {
            clear()
        }
        // If drawing fails or is cancelled, the canvas is unusable.
        (current, isClear) = (nil, false)
        var drawn = next
        if try !draw(next), next > following {
            // Pixels of the frame are missing. Earlier frames are visible there, so they have to be drawn.
            clear()
            drawn = 0
            _ = try draw(0)
        }
        while drawn < index {
            dispose(of: drawn)
            drawn += 1
            _ = try draw(drawn)
        }
        current = index
        return canvas
    }

    /// Returns whether no pixel of the frame is missing.
    private func draw(_ index: Int) throws -> Bool {
        try cover(index)
        return try decoder.draw(index, onto: canvas, colours: colours)
    }

    /// The last frame up to `index` that does not depend on earlier frames, or `earliest`. A frame that restores what it covers
    /// depends on them.
    static func start(
        of index: Int, noEarlierThan earliest: Int = 0, in frames: [AnimationFrame], canvas: PixelSize
    ) -> Int {
        let whole = PixelArea(x: 0, y: 0, size: canvas)
        var start = index
        while start > earliest {
            let (frame, before) = (frames[start], frames[start - 1])
            if frame.replaces, frame.disposal != .restore, frame.area.inside(canvas) == whole { break }
            if before.disposal == .clear, before.area.inside(canvas) == whole { break }
            start -= 1
        }
        return start
    }

    private func cover(_ index: Int) throws {
        covered = nil
        guard decoder.frames[index].disposal == .restore, let area = decoder.frames[index].area.inside(canvas.size)
        else { return }
        let pixels = try PixelBuffer(area.size)
        for row in 0..<area.size.height {
            pixels.row(row).copyMemory(
                from: canvas.row(area.y + row) + area.x * 4, byteCount: pixels.bytesPerRow)
        }
        covered = (area, pixels)
    }

    private func dispose(of index: Int) {
        let frame = decoder.frames[index]
        switch frame.disposal {
        case .keep: return
        case .clear: clear(frame.area)
        case .restore:
            guard let covered else { return }
            FrameBlending.put(covered.pixels, at: covered.area, replaces: true, onto: canvas)
        }
    }

    private func clear() { clear(PixelArea(x: 0, y: 0, size: canvas.size)) }

    private func clear(_ area: PixelArea) {
        guard let area = area.inside(canvas.size) else { return }
        for row in area.y..<area.y + area.size.height {
            memset(canvas.row(row) + area.x * 4, 0, area.size.width * 4)
        }
    }
}
