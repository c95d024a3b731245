import Foundation
import Measuring

/// Two hundred photographs of 12 megapixels to 256 pixels, files to bitmaps, on two cores: whole programs, by the clock.
enum LotRows {
    private static let rounds = 5

    static func rows() throws -> [Row] {
        let scratch = try Scratch()
        // PPM is what costs vipsthumbnail least; it must write something.
        let vips = """
            printf '%s\\n' "$@" | VIPS_CONCURRENCY=1 xargs -P2 -n100 vipsthumbnail --size 256 -o \(scratch.url.path)/%s.ppm
            """
        let all: [(name: String, goal: Double, command: [String])] = [
            ("", 0, Pictures.ours("--thumbnails", "2") + Pictures.lot),
            ("vipsthumbnail, two processes", 0.8, ["bash", "-c", vips, "-"] + Pictures.lot),
            ("Pillow draft, two processes", 0.8, Pictures.script("pillow_pool.py") + ["2"] + Pictures.lot),
            ("gdk-pixbuf, two threads", 1, [Pictures.peer("thumbnails"), "2"] + Pictures.lot),
        ]
        var times = all.map { _ in [Double]() }
        for round in 0...rounds {
            for index in all.indices {
                let turn = (index + round) % all.count
                times[turn].append(try Shell.time(all[turn].command))
            }
        }
        return all.indices.dropFirst().map { index in
            Row(
                "200 photographs → 256 px, two cores", Comparison(times[0], times[index]), unit: .milliseconds,
                against: all[index].name, .atMost(all[index].goal))
        }
    }
}
