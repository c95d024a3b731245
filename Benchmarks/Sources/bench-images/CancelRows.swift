import Foundation
import ImageResource
import ImageYardsticks
import Measuring
import Synchronizer

/// How long after a cancel the decoding thread is free, at 12 megapixels, beside what libjpeg takes for a few rows of
/// such a picture: the pieces between which a decoder can be left.
struct CancelRows {
    private static let cancels = 24
    private static let rows: Int32 = 16
    private let photograph: Data
    private let server: PictureServer
    private let synchronizer: Synchronizer

    init() throws {
        photograph = try Data(contentsOf: URL(fileURLWithPath: Pictures.photograph(0)))
        server = try PictureServer()
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.cancellationGracePeriod = 0
        synchronizer = Synchronizer(configuration: configuration)
    }

    func row(_ name: String, _ file: String, _ sizing: ImageSizing = .stored) throws -> Row {
        let whole = try required(run(file, sizing, cancelAfter: nil))
        var yardsticks: [Double] = []
        let times = try (1...Self.cancels).compactMap { turn in
            yardsticks.append(try fewRows())
            return try run(file, sizing, cancelAfter: whole * Double(turn) / Double(Self.cancels + 1))
        }
        guard times.count > Self.cancels / 3 else { throw BenchmarkError("too few cancels") }
        return Row(
            "a cancelled decode gives its thread back, p90 of \(times.count): \(name)",
            Comparison([0, Self.ninthDecile(times) * 1e9], [0, Self.ninthDecile(yardsticks)]), unit: .milliseconds,
            against: "\(Self.rows) rows by libjpeg", .atMost(64))
    }

    /// The worst of all would measure what else the machine does.
    private static func ninthDecile(_ times: [Double]) -> Double { times.sorted()[times.count * 9 / 10] }

    private func fewRows() throws -> Double {
        let time = photograph.withUnsafeBytes { bytes in
            yardstick_jpeg_rows(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, Self.rows)
        }
        guard time > 0 else { throw BenchmarkError("the photograph is no JPEG") }
        return Double(time)
    }

    /// Seconds from the cancel, or from the beginning, to the end of the parse; nil if it ended before the cancel.
    private func run(_ file: String, _ sizing: ImageSizing, cancelAfter delay: Double?) throws -> Double? {
        guard let url = URL(string: "http://127.0.0.1:\(server.port)/\(file)") else { throw BenchmarkError("no URL") }
        let watched = WatchedImage(ImageResource(request: URLRequest(url: url), sizing: sizing))
        let synchronizer = synchronizer
        let task = Task.detached {
            do {
                _ = try await synchronizer.load(watched)
            } catch is CancellationError {
                // The decode goes on for a moment, which is what is measured.
            } catch {
                watched.fail(error)
            }
        }
        guard watched.began.wait(timeout: .now() + 30) == .success else { throw BenchmarkError("a load did not begin") }
        try watched.failure.check()
        let began = DispatchTime.now().uptimeNanoseconds
        guard let delay else {
            watched.ended.wait()
            try watched.failure.check()
            return Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        }
        if watched.ended.wait(timeout: .now() + delay) == .success {
            try watched.failure.check()
            return nil
        }
        let cancelled = DispatchTime.now().uptimeNanoseconds
        task.cancel()
        watched.ended.wait()
        return Double(DispatchTime.now().uptimeNanoseconds - cancelled) / 1e9
    }

    private func required(_ value: Double?) throws -> Double {
        guard let value else { throw BenchmarkError("no time") }
        return value
    }
}

/// An image that says when its decode begins and ends.
private struct WatchedImage: Resource {
    private let image: ImageResource
    let began = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    let failure = Failure()

    init(_ image: ImageResource) {
        self.image = image
    }

    func request() -> URLRequest { image.request() }

    /// Another one each time: nothing is shared.
    let variant = ResourceVariant(UUID().uuidString)

    var parse: @Sendable (Data) throws -> PlatformImage {
        { [image, began, ended, failure] data in
            began.signal()
            defer { ended.signal() }
            do {
                return try image.parse(data)
            } catch let error as ImageError {
                failure.note(error)
                throw error
            }
        }
    }

    /// The load has failed, perhaps before its decode began.
    func fail(_ error: any Error) {
        failure.note(error)
        began.signal()
        ended.signal()
    }
}

/// Why a load failed, for the thread that waits for it.
private final class Failure: @unchecked Sendable {  // The lock guards the error.
    private let lock = NSLock()
    private var error: (any Error)?

    func note(_ error: any Error) {
        lock.withLock { self.error = error }
    }

    func check() throws {
        if let error = lock.withLock({ error }) { throw error }
    }
}
