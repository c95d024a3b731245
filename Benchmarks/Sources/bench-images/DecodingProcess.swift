import Foundation
import ImageResource
import Measuring

/// This program as a contestant: `bench-images --decode OPERATION FILE`.
enum DecodingProcess {
    static func run(_ operation: String, _ path: String) throws {
        while let target = readLine() {
            let start = Usage.cpu
            let image = try decode(operation, URL(fileURLWithPath: path))
            let time = Usage.cpu - start
            print(time, Usage.peak)
            fflush(nil)
            if !target.isEmpty { try image.pngData()?.write(to: URL(fileURLWithPath: target)) }
        }
    }

    private static func decode(_ operation: String, _ url: URL) throws -> PlatformImage {
        let data = try Data(contentsOf: url, options: .alwaysMapped)
        switch operation {
        case "frames":
            let animation = try AnimatedImage(data: data)
            for index in 0..<animation.frameCount - 1 { _ = try animation.frame(at: index) }
            return try animation.frame(at: animation.frameCount - 1)
        case "thumbnail": return try ImageDecoding.image(from: data, sizing: .maxPixelSize(256, filter: .lanczos))
        case "area": return try ImageDecoding.image(from: data, sizing: .maxPixelSize(256))
        default: return try ImageDecoding.image(from: data)
        }
    }
}

/// What this process has used.
enum Usage {
    /// Nanoseconds of CPU, of all threads.
    static var cpu: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// The most bytes that it has had in memory.
    static var peak: Int { memory("VmHWM") }
    /// The bytes that it has in memory now.
    static var resident: Int { memory("VmRSS") }

    private static func memory(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.split(whereSeparator: { !$0.isNumber }).first ?? "") }.map { $0 * 1024 } ?? 0
    }
}
