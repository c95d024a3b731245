import Foundation

/// Simulates a pointer and a keyboard for the X server.
@MainActor
enum Pointer {
    /// Clicks at a position in a window at the corner of the screen.
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
    /// Presses a key, and presses it again if nothing happens for a while.
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
