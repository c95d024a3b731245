import Foundation
import HTTPCaching
import SQLiteCache
import SynchronizerSupport

/// An entry as the server keeps it, without its body.
///
/// The encoding begins with texts that the server's scripts compare, of 16 digits each: the revision, the identifier, the time of
/// the request, the number of its lease, and the time when the response expires. Then come a byte for `place`, the size and the
/// checksum of the body as 64-bit numbers (little-endian), the record, and a checksum of all that.
package struct SharedEntry: Sendable {
    package let id: Int64
    /// A number that grows with each change of the entry. The newest entry of a URL has the largest revision.
    package let revision: Int64
    package let record: EncodedRecord
    package let response: StoredResponse
    package let bodySize: Int
    package let bodyChecksum: UInt64
    package let place: Place
    /// The number of the lease under which the response was requested; 0 without one. Later leases have larger numbers.
    package let leaseNumber: UInt64

    /// Where the body is.
    package enum Place: UInt8, Sendable {
        case server = 0
        /// Only the machine that stored the response has it.
        case local = 1
        /// Only the memory of the process that stored the response has it.
        case memory = 2
    }

    package var isLocal: Bool { place != .server }

    /// The name of the hash's field, and the end of the name of the body's key.
    package let variant: String

    package static func variant(_ key: UInt64) -> String { key.hexadecimal }

    /// The variant of a response to a GET for which `Vary` names no request field.
    package static let plainVariant = variant(
        StoredResponse(
            url: "", method: "GET", selectingFields: HTTPFields(), status: 200, fields: HTTPFields(),
            requestTime: .distantPast, responseTime: .distantPast
        ).variantKey)

    private static let flagsOffset = 80
    private static let headLength = flagsOffset + 1 + 16
    private static let checksumLength = 8
    /// The largest encoding, in bytes. A response with more fields stays local.
    package static let largest = 64 << 10

    package init(
        _ record: StoredRecord, id: Int64, revision: Int64, body: StoredBody, place: Place, leaseNumber: UInt64 = 0
    ) {
        (self.id, self.revision, self.place, self.leaseNumber) = (id, revision, place, leaseNumber)
        self.record = EncodedRecord(record)
        response = record.response
        variant = Self.variant(response.variantKey)
        (bodySize, bodyChecksum) = (body.length, body.checksum)
    }

    /// The same entry with another response.
    package func updated(to response: StoredResponse, revision: Int64, leaseNumber: UInt64 = 0) -> SharedEntry? {
        guard var record = record.decoded else { return nil }
        record.response = response
        return SharedEntry(
            record, id: id, revision: revision, body: StoredBody(length: bodySize, checksum: bodyChecksum),
            place: place, leaseNumber: leaseNumber)
    }

    package var encoded: Data {
        var data = Data(capacity: Self.headLength + record.bytes.count + Self.checksumLength)
        data.append(contentsOf: UInt64(bitPattern: revision).hexadecimal.utf8)
        data.append(contentsOf: UInt64(bitPattern: id).hexadecimal.utf8)
        data.append(contentsOf: Self.time(response.requestTime).utf8)
        data.append(contentsOf: leaseNumber.hexadecimal.utf8)
        data.append(contentsOf: Self.time(SharedLifetime.expiration(of: response)).utf8)
        data.append(place.rawValue)
        data.append(littleEndian: UInt64(bodySize))
        data.append(littleEndian: bodyChecksum)
        data.append(contentsOf: record.bytes)
        data.append(littleEndian: data.withUnsafeBytes { Checksum64.of($0) })
        return data
    }

    /// Microseconds since 1970, in 16 digits, so that the texts sort in the same order as the times.
    package static func time(_ time: Date) -> String { time.microseconds.hexadecimal }

    /// Decodes a value of the server; nil if it is not the value that was stored for this URL and variant.
    ///
    /// - Parameter url: nil for any URL.
    package init?(_ data: Data, url: String?, variant: String) {
        let end = data.count - Self.checksumLength
        guard end > Self.headLength, data.count <= Self.largest else { return nil }
        let parts = data.withUnsafeBytes { bytes -> (Int64, Int64, Int64, UInt8, UInt64, UInt64, EncodedRecord)? in
            let content = UnsafeRawBufferPointer(rebasing: bytes[..<end])
            guard Checksum64.of(content) == bytes.number(at: end),
                let revision = content.hexadecimal(at: 0), let id = content.hexadecimal(at: 16),
                let lease = content.hexadecimal(at: 48),
                let size = content.number(at: Self.flagsOffset + 1),
                let checksum = content.number(at: Self.flagsOffset + 9),
                let record = EncodedRecord(UnsafeRawBufferPointer(rebasing: content[Self.headLength...]))
            else { return nil }
            return (revision, id, lease, content[Self.flagsOffset], size, checksum, record)
        }
        guard let (revision, id, lease, flags, size, checksum, record) = parts, id >= 0,
            let place = Place(rawValue: flags),
            let size = Int(exactly: size), let response = record.decoded(for: url)?.response,
            response.url == url ?? response.url,
            (record.isPlain ? Self.plainVariant : Self.variant(response.variantKey)) == variant
        else { return nil }
        (self.revision, self.id, self.place, bodySize, bodyChecksum) = (revision, id, place, size, checksum)
        (self.record, self.response, self.variant) = (record, response, variant)
        leaseNumber = UInt64(bitPattern: lease)
    }

    /// Whether these bytes are the body that was stored.
    package func isBody(_ data: Data) -> Bool {
        data.count == bodySize && data.withUnsafeBytes { Checksum64.of($0) } == bodyChecksum
    }
}

/// How long the server keeps an entry.
package enum SharedLifetime {
    /// The longest time, in seconds.
    package static let longest: TimeInterval = 30 * 86_400

    /// When the response stops being fresh, unless a request demands more. All machines calculate the same time. After that time,
    /// each machine asks the server before it uses its copy, so the server need not announce that the response was replaced.
    package static func expiration(of response: StoredResponse) -> Date {
        let freshness = CacheRules().freshness(of: response, at: response.responseTime)
        return response.responseTime.addingTimeInterval(-freshness.staleness)
    }

    /// Milliseconds from now for which the response may be of use, at least a second.
    ///
    /// - Parameter staleRetention: seconds to keep a stale response, so that it can be validated, or used when its origin cannot
    ///   be reached.
    package static func milliseconds(
        of response: StoredResponse, at now: Date, staleRetention: TimeInterval
    ) -> Int {
        let rules = CacheRules(staleWhileRevalidate: 0, staleIfError: 0, staleIfUnreachable: staleRetention)
        let seconds = rules.usefulPeriod(of: response, at: now)
        return Int(1000 * min(max(1, seconds.isNaN ? 1 : seconds), longest))
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func hexadecimal(at offset: Int) -> Int64? {
        UInt64(String(decoding: self[offset..<offset + 16], as: UTF8.self), radix: 16).map { Int64(bitPattern: $0) }
    }
}
