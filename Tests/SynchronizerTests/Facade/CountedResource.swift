import Foundation
import TestSupport

@testable import Synchronizer

/// A resource that counts what is done for it.
struct Counted: DerivedResource {  // not private: the name of a private type does not last
    final class Counts: Sendable {
        let parses = Locked(0)
        let decodes = Locked(0)
        var all: [Int] { [parses.withLock { $0 }, decodes.withLock { $0 }] }
    }

    static let encodingVersion = "1"
    let url: URL
    let counts: Counts
    var variant: ResourceVariant = "plain"
    var token: String?
    var decodeFails = false
    var encoded: @Sendable (String) -> Data? = { Data($0.utf8) }

    func request() -> URLRequest {
        var request = URLRequest(url: url)
        if let token { request.setValue(token, forHTTPHeaderField: "Authorization") }
        return request
    }

    var parse: @Sendable (Data) throws -> String {
        { [counts, variant] data in
            counts.parses.withLock { $0 += 1 }
            return "\(variant.persistentName ?? "") of \(data.count) bytes, the first is \(data.first ?? 0)"
        }
    }

    func encode(_ object: String) throws -> Data? { encoded(object) }

    func decode(_ data: Data) throws -> String {
        counts.decodes.withLock { $0 += 1 }
        if decodeFails { throw CocoaError(.coderReadCorrupt) }
        return String(decoding: data, as: UTF8.self)
    }
}
