internal import CWebP
import Foundation
import SynchronizerSupport

/// libwebp's incremental decoder. libwebp gets the file in pieces, and a decode can be cancelled between them.
final class WebPStream {
    /// The number of pixels per piece: some 3 ms of work if the bytes are spread evenly.
    private static let pixelsAtOnce = 250_000

    /// Where a lossy picture is flat, a few kilobytes can be a megapixel.
    private static let lossyBytesAtOnce = 4096

    /// Pictures up to this size take less than ten milliseconds at once.
    private static let pixelsOfPatience = 2_000_000

    /// The decoder keeps pointers into it.
    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let decoder: OpaquePointer
    /// The number of bytes given to libwebp.
    private var fed = 0
    /// A copy of the bytes for another thread.
    private var copy = Data()
    /// Whether the load was cancelled while another thread was working.
    private var isLeft = false
    /// Whether the picture is complete.
    private(set) var isComplete = false

    /// - Parameter configure: Sets the output. Its memory must outlive the stream.
    init(_ configure: (inout WebPDecoderConfig) -> Void) throws {
        config = .allocate(capacity: 1)
        config.initialize(to: WebPDecoderConfig())
        _ = WebPInitDecoderConfig(config)
        config.pointee.output.is_external_memory = 1
        configure(&config.pointee)
        guard let decoder = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw ImageError.outOfMemory
        }
        self.decoder = decoder
    }

    deinit {
        WebPIDelete(decoder)
        WebPFreeDecBuffer(&config.pointee.output)
        config.deallocate()
    }

    /// The number of finished rows, from the top.
    var rowsDone: Int {
        var (left, top, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        return WebPIDecodedArea(decoder, &left, &top, &width, &height) == nil ? 0 : Int(height)
    }

    /// Decodes one more piece, given all bytes so far, which need not stay in place. Returns false if there are no more
    /// bytes. Throws `CancellationError` if the load is cancelled.
    /// - Parameters:
    ///   - pixels: The number of pixels in the whole picture.
    ///   - owner: The owner of the output memory.
    func step(_ bytes: ByteReader, pixels: Int, owner: AnyObject) throws -> Bool {
        guard !isComplete, fed < bytes.count else { return false }
        try ParseCancellation.check()
        if isLeft { throw CancellationError() }
        let isLossless = WebPHeader.isLossless(bytes)
        let share = max(1, bytes.count / max(1, pixels / Self.pixelsAtOnce))
        fed = min(fed + (isLossless ? share : min(share, Self.lossyBytesAtOnce)), bytes.count)
        let canTakeLong = pixels > Self.pixelsOfPatience && (isLossless || bytes.count < pixels / 32)
        if canTakeLong {
            isComplete = try updateAside(bytes, owner: owner)
        } else if let part = bytes.part(from: 0, count: fed) {
            isComplete = try update(part)
        }
        return true
    }

    /// Decodes on another thread. libwebp waits for an eighth of a lossless file and then decodes that at once. It also decodes
    /// a lossy picture of a single colour at once. Either may take fifty milliseconds.
    private func updateAside(_ bytes: ByteReader, owner: AnyObject) throws -> Bool {
        // Copied piece by piece: to copy a file of many megabytes at once would take milliseconds.
        if copy.isEmpty { copy.reserveCapacity(bytes.count) }
        copy.append(contentsOf: bytes.bytes[copy.count..<fed])
        let work = Handed(stream: self, bytes: copy, owner: owner)
        isLeft = true
        let isComplete = try DetachedWork.run {
            try work.bytes.withUnsafeBytes { try work.stream.update(ByteReader($0)) }
        }
        isLeft = false
        return isComplete
    }

    /// What another thread works on.
    private struct Handed: @unchecked Sendable {  // The caller waits for the work to end, or never decodes again.
        let stream: WebPStream
        let bytes: Data
        let owner: AnyObject
    }

    private func update(_ bytes: ByteReader) throws -> Bool {
        let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        switch WebPIUpdate(decoder, address, bytes.count) {
        case VP8_STATUS_OK: return true
        case VP8_STATUS_SUSPENDED: return false
        case VP8_STATUS_OUT_OF_MEMORY: throw ImageError.outOfMemory
        case VP8_STATUS_UNSUPPORTED_FEATURE: throw ImageError.corrupt(.webp, "unsupported feature")
        default: throw ImageError.corrupt(.webp, "invalid bitstream")
        }
    }
}

/// Runs uninterruptible work on another thread so that the caller stays cancellable.
enum DetachedWork {
    /// Returns or throws what `work` returns or throws. Throws `CancellationError` within some milliseconds if the load is
    /// cancelled. `work` then continues to its end, so it must own everything that it needs.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws -> Value {
        let (ended, result) = (DispatchSemaphore(value: 0), Locked<Result<Value, any Error>?>(nil))
        DispatchQueue.global(qos: .utility).async {
            let value = Result { try work() }
            result.withLock { $0 = value }
            ended.signal()
        }
        // No callback reports a cancelled load, so this thread polls.
        while ended.wait(timeout: .now() + .milliseconds(2)) == .timedOut { try ParseCancellation.check() }
        guard let value = result.withLock({ $0 }) else { throw CancellationError() }
        return try value.get()
    }
}
