import Foundation
import ImageResource
import Measuring

/// What is decoded, and by whom else: made by `Benchmarks/Peers/prepare-images`.
enum Pictures {
    /// How large thumbnails are; the peers have the same. Lanczos's filter is theirs, too.
    static let thumbnail = ImageSizing.maxPixelSize(256, filter: .lanczos)

    private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    /// `Benchmarks`: the program lies in `.build/x86_64-unknown-linux-gnu/release` there.
    private static let benchmarks = (0..<4).reduce(program) { folder, _ in folder.deletingLastPathComponent() }
    static let peers = benchmarks.appendingPathComponent(".build/peers")
    static let samples = benchmarks.appendingPathComponent("../Tests/ImageResourceTests/Samples")

    static func file(_ name: String) -> String { peers.appendingPathComponent("pictures/\(name)").path }

    static func photograph(_ number: Int) -> String { file("photographs/" + String(format: "%03d.jpg", number)) }

    static let lot = (0..<200).map(photograph)

    /// Of one to four megapixels, in the ways in which photographs are stored.
    static let modest = (0..<12).map { file("modest/" + String(format: "%02d.jpg", $0)) }

    static func script(_ name: String) -> [String] {
        [
            peers.appendingPathComponent("venv/bin/python").path, "-B",
            benchmarks.appendingPathComponent("Peers/\(name)").path,
        ]
    }

    static func ours(_ arguments: String...) -> [String] { [program.path] + arguments }

    static func peer(_ name: String) -> String { peers.appendingPathComponent(name).path }

    /// The decoders of that format; ours is first.
    static func contestants(_ operation: String, _ file: String, _ peers: [Peer]) throws -> [Contestant] {
        let ours = try Contestant("Synchronizer", ours("--decode", operation, file))
        return try [ours] + peers.map { try Contestant($0.rawValue, $0.command(operation, file)) }
    }

    enum Peer: String {
        case vips = "libvips"
        case gdk = "gdk-pixbuf"
        case pillow = "Pillow"
        case giflib = "giflib"

        func command(_ operation: String, _ file: String) -> [String] {
            switch self {
            case .vips: [Pictures.peer("peers"), "vips", operation, file]
            case .gdk: [Pictures.peer("peers"), "gdk", operation, file]
            case .giflib: [Pictures.peer("peers"), "giflib", operation, file]
            case .pillow: Pictures.script("pillow.py") + [operation, file]
            }
        }
    }
}
