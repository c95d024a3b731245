import Foundation

@testable import CurlSession

extension Target {
    /// Lines as libcurl delivers them.
    func head(_ bytes: UnsafeRawBufferPointer) {
        var parser = HeadParser(url: URL(fileURLWithPath: "/"))
        var rest = bytes[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
            guard let event = try? parser.append(UnsafeRawBufferPointer(rebasing: rest[..<end])) else {
                rest = rest[end...]
                continue
            }
            switch event {
            case .interim(let head): precondition((100..<200).contains(head.status))
            case .final(let head): precondition((200..<1000).contains(head.status))
            }
            rest = rest[end...]
        }
        _ = parser.trailers
    }

    /// The first byte chooses the codings, the second one how the body is cut and how much is pulled at once.
    func codings(_ bytes: UnsafeRawBufferPointer) {
        let lists = [
            "gzip", "deflate", "br", "zstd", "gzip, gzip", "deflate, br", "zstd, gzip", "br, zstd", "gzip, gzip, gzip",
            "zstd, br, deflate", "gzip, zstd", "br, br",
        ]
        guard bytes.count > 2, let decoder = ContentDecoder(codings: [lists[Int(bytes[0]) % lists.count]]) else {
            return
        }
        let piece = Int(bytes[1] & 0x0F) * 16 + 1
        var room = [UInt8](repeating: 0, count: Int(bytes[1] >> 4) * 256 + 1)
        var rest = bytes[2...]
        var total = 0
        do {
            while !rest.isEmpty {
                decoder.push(UnsafeRawBufferPointer(rebasing: rest.prefix(piece)))
                rest = rest.dropFirst(piece)
                while case let count = try room.withUnsafeMutableBytes({ try decoder.pull(into: $0) }), count > 0 {
                    precondition(count <= room.count)
                    total += count
                    if total > 1 << 20 { return }
                }
            }
            try decoder.finish()
        } catch {}
    }

    /// Lines of `Set-Cookie`, from origins that take turns, and requests between them.
    func cookies(_ bytes: UnsafeRawBufferPointer) {
        let urls = [
            "https://a.example.com/x/y", "http://a.example.com/", "http://b.a.example.com/x", "http://127.0.0.1/",
        ]
        let targets = urls.compactMap { URL(string: $0).flatMap(CookieTarget.init) }
        var table = CookieTable()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            table.store([String(decoding: line, as: UTF8.self)], from: targets[index % targets.count], at: now)
            for target in targets { _ = table.header(for: target, at: now) }
            if index % 3 == 0, let change = table.nextChange() { table.wrote(change, as: nil) }
        }
    }

    /// Lines of `WWW-Authenticate`, and the answers to what can be answered.
    func challenges(_ bytes: UnsafeRawBufferPointer) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        var flow = AuthenticationFlow()
        _ = flow.received(Challenge.parse(lines))
        for scheme in AuthenticationScheme.schemes(in: Challenge.parse(lines)).prefix(8) {
            let answer = scheme.answer(user: "u\"", password: "p", method: "GET", target: "/", nonce: "n")
            precondition(!answer.contains("\n"))
        }
    }
}
