import CGtk
import Foundation
import GTK
import GalleryModel
import ImageResource

extension Check {
    /// The accepted share of late frames: five times the goal. Only frames count that are late because the program
    /// computed for too long, because the machine may be busy. One of three attempts has to stay within the share.
    private static let gates = [(step: 60.0, late: 0.01), (step: 240.0, late: 0.05)]

    func scroll() async throws {
        let window = program.open(makeSession("cache"), SavedState())
        try await wait(for: "a filled window") { window.isFilled }
        try await Task.sleep(nanoseconds: 1_500_000_000)  // GTK's own start-up is not checked
        for gate in Self.gates {
            var words: [String] = []
            for attempt in 1...3 {
                let down = await window.scroll(to: { min($0.end, 12_000) }, by: gate.step)
                let up = await window.scroll(to: { _ in 0 }, by: gate.step)
                let (late, count) = (down.lateByOwnWork + up.lateByOwnWork, down.count + up.count)
                words.append("\(late) of \(count) (\(down.late + up.late) with the machine's)")
                if Double(late) <= gate.late * Double(count) { break }
                if attempt == 3 {
                    throw Failed(description: "late frames at \(Int(gate.step)) px: \(words.joined(separator: ", "))")
                }
            }
            report("late frames at \(Int(gate.step)) px a frame: \(words.joined(separator: ", then "))")
        }
        gtk_window_destroy(window.window.cast())
    }

    func report(_ words: String) {
        print("✔ \(words)")
    }

    /// The pixels that the visible cells draw.
    func pictures(of window: GalleryWindow) -> [Int: BitmapImage] {
        var pictures: [Int: BitmapImage] = [:]
        for cell in window.grid.visibleCells {
            if let id = cell.photograph?.id { pictures[id] = cell.drawnPicture }
        }
        return pictures
    }
}

extension BitmapImage {
    /// Whether the picture has more colours than a placeholder.
    var isColourful: Bool {
        withUnsafeBytes { pixels in
            Set(
                stride(from: 0, to: pixels.count - 3, by: 4 * 7).map { offset in
                    pixels.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                }
            ).count > 40
        }
    }
}
