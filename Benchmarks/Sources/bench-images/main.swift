import Foundation
import Measuring

// The processes that are measured are this program, too.
let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "--decode" where arguments.count == 3:
    try DecodingProcess.run(arguments[1], arguments[2])
    exit(0)
case "--thumbnails" where arguments.count > 2:
    try DecodingProcess.thumbnails(Int(arguments[1]) ?? 1, Array(arguments.dropFirst(2)))
    exit(0)
case "--serve":
    try SynchronizerRows.serve()
    exit(0)
case "--load" where arguments.count == 2:
    try await SynchronizerRows.load(arguments[1])
    exit(0)
case "--fill" where arguments.count == 3:
    try await DerivedRows.fill(arguments[1], arguments[2])
    exit(0)
case "--relaunch" where arguments.count == 4:
    try await DerivedRows.relaunch(arguments[1], arguments[2], arguments[3])
    exit(0)
case "--demo" where arguments.count == 3:
    try await DemoRows.run(share: Double(arguments[1]) ?? .nan, seconds: Double(arguments[2]) ?? .nan)
    exit(0)
case "--blobs" where arguments.count == 3:
    try DerivedRows.readBlobs(arguments[1], Int(arguments[2]) ?? 0)
    exit(0)
default: break
}

var report = try Report("images")
guard FileManager.default.fileExists(atPath: Pictures.file("flat.webp")) else {
    throw BenchmarkError("Benchmarks/Peers/prepare-images has not been run")
}

let all = [Pictures.Peer.vips, .gdk, .pillow]
let photograph = Pictures.photograph(0)
let decoding = [
    DecodingRows(
        name: "12 MP JPEG → 256 px", operation: "thumbnail", file: photograph, peers: all, time: 1, memory: 0.7,
        judged: (0..<12).map(Pictures.photograph)),
    DecodingRows(
        name: "12 MP progressive JPEG → 256 px", operation: "thumbnail", file: Pictures.file("progressive.jpg"),
        peers: all, time: 1, memory: 0.7, judged: [Pictures.file("progressive.jpg")]),
    DecodingRows(name: "12 MP JPEG, full size", operation: "full", file: photograph, peers: all, time: 1.1),
    DecodingRows(name: "4 MP PNG, RGB", operation: "full", file: Pictures.file("rgb.png"), peers: all, time: 1.1),
    DecodingRows(name: "4 MP PNG, RGBA", operation: "full", file: Pictures.file("rgba.png"), peers: all, time: 1.1),
    DecodingRows(
        name: "12 MP WebP → 256 px", operation: "thumbnail", file: Pictures.file("photograph.webp"),
        peers: [.vips, .pillow], time: 1),
    DecodingRows(
        name: "GIF, 20 frames of 500 px", operation: "frames", file: Pictures.file("animation.gif"),
        peers: [.giflib, .pillow], time: 1),
]
for entry in decoding where report.isWanted(entry.name) {
    for row in try entry.rows() { report.add(row) }
}
let processing: [(name: String, operation: String, peers: [Pictures.Peer])] = [
    ("crop of a 400 px image to 300 × 300", "crop", all),
    ("a 400 px image scaled and cropped to 200 × 200", "fill", all),
    ("round corners of a 400 px image", "corners", [.vips, .pillow]),
    ("blur of a 400 px image, σ = 2", "blur-2", [.vips, .pillow]),
    ("blur of a 400 px image, σ = 4", "blur-4", [.vips, .pillow]),
    ("blur of a 400 px image, σ = 12", "blur-12", [.vips, .pillow]),
]
for entry in processing where report.isWanted(entry.name) {
    let rows = DecodingRows(
        name: entry.name, operation: "process-" + entry.operation, file: photograph, peers: entry.peers, time: 1,
        unit: .microseconds)
    for row in try rows.rows() { report.add(row) }
}
if report.isWanted("JPEGs of 1 to 4 MP, default filter") {
    for side in [128, 256, 400, 640] { report.add(try DefaultFilterRow.row(side)) }
}
if report.isWanted("200 photographs, two cores") { for row in try LotRows.rows() { report.add(row) } }
if report.isWanted("header dimensions") { report.add(try HeaderRows.row()) }
if report.isWanted("peak memory of 200 photographs") { report.add(try SynchronizerRows.peakMemory()) }
if report.isWanted(DerivedRows.name) { for row in try DerivedRows().rows() { report.add(row) } }
for row in try await DemoRows.wanted(by: report) { report.add(row) }
if report.isWanted("cancelled decode") {
    let rows = try CancelRows()
    report.add(try rows.row("JPEG", "photographs/000.jpg"))
    report.add(try rows.row("JPEG → 256 px", "photographs/000.jpg", Pictures.thumbnail))
    report.add(try rows.row("progressive JPEG", "progressive.jpg"))
    report.add(try rows.row("PNG", "large.png"))
    report.add(try rows.row("WebP", "photograph.webp"))
    report.add(try rows.row("WebP of one colour", "one-colour.webp"))
    report.add(try rows.row("lossless WebP", "lossless.webp"))
    report.add(try rows.row("lossless WebP, half of it of one colour", "flat.webp"))
}
try report.finish()
