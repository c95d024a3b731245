// Decodes one file, for `Scripts/check-corpora`: Decode FILE FOLDER SIZE…
//
// Prints a line for each size (the longer side in pixels, 0 for the stored size) and one for the animation: what came
// out, or the error. The pixels, premultiplied BGRA, go to FOLDER: SIZE.bgra, and a frame each to frame-NUMBER.bgra.

import Foundation
import ImageResource

/// Frames that are written, of animations that have more.
let maximumFrames = 16

func attempt(_ what: String, _ work: () throws -> String) {
    let result: String
    do {
        result = try "ok " + work()
    } catch {
        result = "error \(error)"
    }
    print("\(what) \(result)")
    fflush(nil)
}

func write(_ image: PlatformImage, _ name: String, _ folder: URL) throws {
    try image.withUnsafeBytes { try Data($0).write(to: folder.appendingPathComponent(name + ".bgra")) }
}

let arguments = CommandLine.arguments
guard arguments.count > 3, let data = FileManager.default.contents(atPath: arguments[1]) else {
    print("Decode FILE FOLDER SIZE…")
    exit(2)
}
let folder = URL(fileURLWithPath: arguments[2])
for side in arguments.dropFirst(3).compactMap({ Int($0) }) {
    attempt("\(side)") {
        let image = try ImageDecoding.image(from: data, sizing: .maxPixelSize(side))
        try write(image, "\(side)", folder)
        return "\(image.width) \(image.height)"
    }
}
attempt("frames") {
    let animation = try AnimatedImage(data: data)
    for index in 0..<min(animation.frameCount, maximumFrames) where animation.frameCount > 1 {
        try write(animation.frame(at: index), "frame-\(index)", folder)
    }
    return "\(animation.frameCount)"
}
