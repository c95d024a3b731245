import Foundation
import ImageResource
import Measuring

/// This program as a contestant: `bench-images --decode OPERATION FILE`.
enum DecodingProcess {
    static func run(_ operation: String, _ path: String) throws {
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
