import Foundation

/// A person at the pointer and at the keyboard, as the X server sees it.
@MainActor
enum Pointer {
    /// A click, at a place in a window that is in the screen's corner.
    static func click(at place: (x: Double, y: Double)) {
        run("mousemove", "\(Int(place.x))", "\(Int(place.y))", "click", "1")
    }

    static func press(_ key: String) {
        run("key", key)
    }

    private static func run(_ arguments: String...) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/xdotool")
        process.arguments = arguments
        try? process.run()
    }
}

extension Check {
    /// Presses a key, again if nothing comes of it for a while.
    func press(_ key: String, until what: String, _ condition: () -> Bool) async throws {
        var looks = 0
        try await wait(for: what) {
            if condition() { return true }
            if looks % 400 == 0 { Pointer.press(key) }
            looks += 1
            return false
        }
    }
}
