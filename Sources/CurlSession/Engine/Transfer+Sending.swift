import CCurl
import Foundation

/// What libcurl sends: the body of the request.
extension Transfer {
    /// Whether libcurl has taken the whole body.
    var hasSentBody: Bool { exchange.body.isEmpty || sending == .ended || sent == exchange.body.length }

    func send(into space: UnsafeMutableRawBufferPointer) -> Int {
        guard !task.isSuspendedOnEngine else { return pauseSending() }
        var count = 0
        switch exchange.body {
        case .none, .asked, .file: break
        case .data(let data):
            count = min(space.count, data.count - Int(sent))
            let start = data.startIndex + Int(sent)
            space.copyBytes(from: data[start..<start + count])
        case .stream(let stream, let length):
            let (task, pool) = (task, pool)
            // A stream or file may have other bytes than `Content-Length` says. The server would take surplus bytes for a request.
            let missing = length.map { $0 - sent } ?? .max
            guard missing > 0 else { break }
            let room = UnsafeMutableRawBufferPointer(rebasing: space.prefix(Int(clamping: missing)))
            switch stream.read(into: room, notify: { pool.perform { task.transfer?.goOn() } }) {
            case .bytes(let bytes): count = bytes
            case .notYet: return pauseSending()
            case .end where length == nil: sending = .ended
            case .end, .failed:
                let reason = "the body's stream failed, or has fewer bytes than Content-Length says"
                abort = .failure(URLError(.requestBodyStreamExhausted, because: reason))
                return Int(CURL_READFUNC_ABORT)
            }
        }
        sent += Int64(count)
        noteProgress()
        if count > 0 { task.sent(count, total: sent, of: exchange.body.length) }
        return count
    }

    private func pauseSending() -> Int {
        sending = .paused
        return Int(CURL_READFUNC_PAUSE)
    }

    /// Whether libcurl may send the body again, from this byte on. `beginSending` rewinds the body.
    func mayRewind(to offset: Int64) -> Bool { exchange.body.canBeSentAgain && offset == 0 }
}
