import Foundation

/// The options of the command line.
struct Options {
    static let help = """
        Scripts/gallery [options]                shows the gallery
          --feed URL          shows your own feed instead of the sample site's
          --items N           the number of pictures of the sample site (600)
          --light | --dark    overrides the preference of the desktop
          --offline           starts offline, with stored pictures only
        Scripts/gallery --screenshot FILE        takes a picture of it, .jpg or .png, without a display
          --detail N          of one photograph, by its index
          --inspector         with the inspector
          --size WxH          the size of the window in points
        Scripts/gallery --animation FILE         takes a short film of it, .webp, without a display; --dark and --size, too
        Scripts/gallery --check                  checks itself under Xvfb; exits with 1 if a check fails
        Scripts/gallery --measure                scrolls through everything under Xvfb, and prints the cost
          --baseline NAME     replaces one technique: decode-on-main, no-cancel, fifo, full-size;
                              or no-cancel-fifo, which combines two
          --sizes NAME        equal: photographs of some 650 KB; mixed: of some 270 KB, and one in twelve an original of 8 MB
          --draw N            chooses which of the mixed ones are originals (0)
          --bandwidth N       bytes per second of the sample site (16000000 for equal sizes, 5000000 for mixed ones; 0 for
                              no limit)
          --passes N          the number of passes over the list at the end, to measure memory (0)
          --json FILE         also writes the figures to a file
        Scripts/gallery --compare                measures it and all baselines, several times each, and prints one
                              table; takes about twenty minutes
        """

    enum Mode: Equatable {
        case interactive, check, measure
        case screenshot(file: String)
        /// Frames for an animation; `Scripts/gallery --animation` makes one file of them.
        case frames(folder: String)
    }

    /// The sizes of the sample site's photographs, for measurements.
    enum Sizes: String, Codable {
        case equal, mixed

        /// The command that makes the site serve them, and their feed.
        var site: (command: String, feed: String) { self == .equal ? ("enlarge", "large") : ("mix", "mixed") }
        /// Bytes per second at which the visible photographs take about a second.
        var bandwidth: Int { self == .equal ? 16_000_000 : 5_000_000 }
    }

    struct Misuse: Error {
        let words: String
    }

    var mode = Mode.interactive
    var feed: URL?
    var items = 600
    var isDark: Bool?
    var isOffline = false
    var detail: Int?
    var showsInspector = false
    var size: (width: Int, height: Int)?
    var baseline: Baseline?
    var sizes = Sizes.equal
    var draw = 0
    private var wantedBandwidth: Int?
    /// Bytes per second of the sample site during a measurement.
    var bandwidth: Int { wantedBandwidth ?? sizes.bandwidth }
    var passes = 0
    var json: String?

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--check": mode = .check
            case "--measure": mode = .measure
            case "--light": isDark = false
            case "--dark": isDark = true
            case "--offline": isOffline = true
            case "--inspector": showsInspector = true
            default:
                guard let value = rest.popFirst() else { throw Misuse(words: "\(option)?") }
                try take(option, value)
            }
        }
    }

    private mutating func take(_ option: String, _ value: String) throws {
        switch option {
        case "--screenshot": mode = .screenshot(file: value)
        case "--frames": mode = .frames(folder: value)
        case "--feed":
            guard let url = URL(string: value), url.scheme != nil else { throw Misuse(words: "\(value) is not a URL") }
            feed = url
        case "--items": items = try number(value)
        case "--detail": detail = try number(value)
        case "--sizes":
            guard let sizes = Sizes(rawValue: value) else { throw Misuse(words: "There are no sizes \(value)") }
            self.sizes = sizes
        case "--draw": draw = try number(value)
        case "--bandwidth": wantedBandwidth = try number(value)
        case "--passes": passes = try number(value)
        case "--json": json = value
        case "--size":
            let sides = value.split(separator: "x").compactMap { Int($0) }
            guard sides.count == 2 else { throw Misuse(words: "\(value) is not a size such as 1200x800") }
            size = (sides[0], sides[1])
        case "--baseline":
            guard let baseline = Baseline(rawValue: value) else { throw Misuse(words: "There is no baseline \(value)") }
            self.baseline = baseline
        default: throw Misuse(words: "\(option)?")
        }
    }

    private func number(_ value: String) throws -> Int {
        guard let number = Int(value), number >= 0 else { throw Misuse(words: "\(value) is not a number") }
        return number
    }
}
