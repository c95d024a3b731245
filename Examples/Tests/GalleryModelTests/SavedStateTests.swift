import Foundation
import GalleryModel
import Testing

@Suite("What is kept between two runs")
struct SavedStateTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gallery-\(UUID().uuidString)")

    @Test("a state that is written is read again")
    func roundTrip() {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("a/state.json")
        var state = SavedState()
        (state.width, state.scroll, state.order, state.theme) = (900, 1_234.5, .title, .dark)
        state.write(to: file)
        #expect(SavedState(from: file) == state)
    }

    @Test(
        "a file that is damaged, or says nonsense, does no harm",
        arguments: ["", "{", "{\"width\": 1e400}", "[1]", "{\"width\": -5, \"height\": 99999999, \"scroll\": -1}"])
    func nonsense(text: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("state.json")
        try Data(text.utf8).write(to: file)
        let state = SavedState(from: file)
        #expect((360...8_000).contains(state.width))
        #expect((300...8_000).contains(state.height))
        #expect(state.scroll >= 0)
    }
}
