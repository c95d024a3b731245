import Foundation
import ImageResource
import Measuring

/// This program as a contestant: `bench-images --decode OPERATION FILE`.
enum DecodingProcess {
    static func run(_ operation: String, _ path: String) throws {
        if operation.hasPrefix("process-") { return try process(operation, URL(fileURLWithPath: path)) }
        print("ready")
        fflush(nil)
        while let target = readLine() {
            let start = processorTime()
            let image = try decode(operation, URL(fileURLWithPath: path))
            print(processorTime() - start)
            fflush(nil)
            if !target.isEmpty { try image.pngData()?.write(to: URL(fileURLWithPath: target)) }
        }
    }

    /// Processes a picture of 400 pixels, twenty times for each line.
    private static func process(_ operation: String, _ url: URL) throws {
        let image = try ImageDecoding.image(from: Data(contentsOf: url), sizing: .maxPixelSize(400))
        guard let processing = processing[operation] else { throw BenchmarkError("no operation \(operation)") }
        print("ready")
        fflush(nil)
        while readLine() != nil {
            let start = processorTime()
            for _ in 0..<20 { _ = try ImageProcessing.apply([processing], to: image) }
            print((processorTime() - start) / 20)
            fflush(nil)
        }
    }

    private static let processing: [String: ImageProcessing] = [
        "process-crop": .cropToFill(CGSize(width: 300, height: 300)),
        "process-fill": .cropToFill(CGSize(width: 200, height: 200)),
        "process-corners": .roundedCorners(24),
        "process-blur-2": .blur(radius: 2), "process-blur-4": .blur(radius: 4), "process-blur-12": .blur(radius: 12),
    ]

    private static func decode(_ operation: String, _ url: URL) throws -> PlatformImage {
        let data = try Data(contentsOf: url, options: .alwaysMapped)
        switch operation {
        case "frames":
            let animation = try AnimatedImage(data: data)
            for index in 0..<animation.frameCount - 1 { _ = try animation.frame(at: index) }
            return try animation.frame(at: animation.frameCount - 1)
        case let operation where operation.hasPrefix("default-"):
            let side = Int(operation.dropFirst("default-".count)) ?? 0
            return try ImageDecoding.image(from: data, sizing: .maxPixelSize(side))
        case "thumbnail": return try ImageDecoding.image(from: data, sizing: Pictures.thumbnail)
        default: return try ImageDecoding.image(from: data)
        }
    }

    /// All thumbnails of a lot, on so many threads: `bench-images --thumbnails THREADS FILE…`.
    static func thumbnails(_ threads: Int, _ files: [String]) throws {
        let (next, failed) = (Counter(), Counter())
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            while let index = next.take(below: files.count) {
                let url = URL(fileURLWithPath: files[index])
                if (try? decode("thumbnail", url)) == nil { _ = failed.take(below: files.count) }
            }
        }
        guard failed.take(below: 1) != nil else { throw BenchmarkError("not all photographs were decoded") }
    }
}

/// Counts up, for several threads.
final class Counter: @unchecked Sendable {  // the lock guards the number
    private let lock = NSLock()
    private var number = 0

    func take(below limit: Int) -> Int? {
        lock.withLock {
            defer { number += 1 }
            return number < limit ? number : nil
        }
    }
}
