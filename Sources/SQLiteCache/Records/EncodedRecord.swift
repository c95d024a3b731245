import Foundation
import HTTPCaching
import SynchronizerSupport

/// An encoded `StoredRecord`, as it is kept in the database and in memory. Most lookups need only the properties of this type.
/// They do not decode the record, which would take as long as finding it.
package struct EncodedRecord: Sendable {
    /// Increases with each change of the encoding, and when responses depend on more request fields than before.
    package static let format: UInt8 = 5

    /// One bit for each optional part.
    fileprivate struct Traits: OptionSet {
        let rawValue: UInt8

        /// The method is GET, and the response depends on nothing else in the request.
        static let isPlain = Traits(rawValue: 1)
        static let injected = Traits(rawValue: 2)
        static let part = Traits(rawValue: 4)
        static let completeLength = Traits(rawValue: 8)
        static let responseURL = Traits(rawValue: 16)
        static let other = Traits(rawValue: 32)
        static let userInfo = Traits(rawValue: 64)
    }

    package let bytes: [UInt8]

    package init(_ record: StoredRecord) {
        let response = record.response
        var writer = ByteWriter(capacity: 1024)
        writer.put(Self.format)
        writer.put(Self.traits(of: record).rawValue)
        writer.put(response.url)
        writer.put(response.method)
        writer.put(response.status)
        writer.put(response.requestTime)
        writer.put(response.responseTime)
        writer.put(fixed: response.facts.encoded)
        writer.put(response.selectingFields)
        writer.put(response.fields)
        record.putOptionalParts(into: &writer)
        bytes = writer.bytes
    }

    /// A placeholder, which decodes to nil.
    init() {
        bytes = [Self.format, 0]
    }

    /// Copies bytes whose checksum was correct; nil if they have another format.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 2, bytes[0] == Self.format else { return nil }
        self.bytes = [UInt8](bytes)
    }

    private static func traits(of record: StoredRecord) -> Traits {
        let response = record.response
        var traits: Traits = []
        if response.method == "GET", response.selectingFields.isEmpty, response.fields[FieldName.vary] == nil,
            response.part == nil
        {
            traits.insert(.isPlain)
        }
        if response.injectedCacheControl != nil { traits.insert(.injected) }
        if response.part != nil { traits.insert(.part) }
        if response.part?.completeLength != nil { traits.insert(.completeLength) }
        if record.responseURL != nil { traits.insert(.responseURL) }
        if record.other != nil { traits.insert(.other) }
        if record.userInfo != nil { traits.insert(.userInfo) }
        return traits
    }

    fileprivate var traits: Traits { Traits(rawValue: bytes[1]) }

    /// Whether the response answers every GET for its URL that has no credentials.
    package var isPlain: Bool { traits.contains(.isPlain) }
    var isHTTP: Bool { !traits.contains(.other) }
    var hasResponseURL: Bool { traits.contains(.responseURL) }
    var hasUserInfo: Bool { traits.contains(.userInfo) || traits.contains(.injected) }

    /// Whether it is the record of a response for that URL.
    package func isFor(_ url: String) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes, at: 2)
            return (try? reader.isNext(url)) ?? false
        }
    }

    /// When the response was requested.
    var requestTime: Date? {
        bytes.withUnsafeBytes { raw in
            var reader = ByteReader(raw, at: 2)
            do {
                try reader.skip()
                try reader.skip()
                _ = try reader.number()
                return try reader.time()
            } catch {
                return nil
            }
        }
    }

    package var decoded: StoredRecord? { decoded(for: nil) }

    /// The record; nil if the bytes encode none.
    ///
    /// - Parameter url: its URL, if it is known, so that decoding makes no new string for it.
    package func decoded(for url: String?) -> StoredRecord? {
        bytes.withUnsafeBytes { raw in
            var reader = ByteReader(raw, at: 2)
            let record = try? StoredRecord(from: &reader, of: bytes, traits: traits, url: url)
            return reader.isAtEnd ? record : nil
        }
    }

    /// The status and the fields, from which an `HTTPURLResponse` is made.
    var statusAndFields: (status: Int, fields: [String: String])? {
        bytes.withUnsafeBytes { raw in
            var reader = ByteReader(raw, at: 2)
            do {
                try reader.skip()
                try reader.skip()
                let status = try reader.number()
                _ = (try reader.time(), try reader.time(), try reader.facts(), try reader.skip())
                return (status, try reader.fields(of: bytes).dictionary)
            } catch {
                return nil
            }
        }
    }
}

extension StoredRecord {
    fileprivate func putOptionalParts(into writer: inout ByteWriter) {
        if let injected = response.injectedCacheControl { writer.put(injected) }
        if let part = response.part {
            writer.put(part.range.lowerBound)
            writer.put(part.range.upperBound)
            if let length = part.completeLength { writer.put(length) }
        }
        if let responseURL { writer.put(responseURL) }
        if let other {
            writer.put(other.mimeType ?? "")
            writer.put(other.textEncodingName ?? "")
            writer.put(other.expectedContentLength)
        }
        if let userInfo { writer.put(userInfo) }
    }

    /// - Parameter bytes: the bytes that the reader reads. The fields keep a slice of them, and stay encoded.
    fileprivate init(
        from reader: inout ByteReader, of bytes: [UInt8], traits: EncodedRecord.Traits, url known: String?
    ) throws(MalformedBytes) {
        let url = try reader.text(orEqual: known)
        let method = try reader.text()
        let status = try reader.number()
        let requestTime = try reader.time()
        let responseTime = try reader.time()
        let facts = try reader.facts()
        let selectingFields = try reader.fields(of: bytes)
        response = StoredResponse(
            url: url, method: method, selectingFields: selectingFields, status: status,
            fields: try reader.fields(of: bytes),
            requestTime: requestTime, responseTime: responseTime)
        try readOptionalParts(from: &reader, traits: traits)
        response.decide(by: facts)
    }

    private mutating func readOptionalParts(
        from reader: inout ByteReader, traits: EncodedRecord.Traits
    ) throws(MalformedBytes) {
        if traits.contains(.injected) { response.injectedCacheControl = try reader.text() }
        if traits.contains(.part) {
            let (lower, upper) = (try reader.number(), try reader.number())
            let length = traits.contains(.completeLength) ? try reader.number() : nil
            guard 0 <= lower, lower <= upper, upper <= length ?? upper else { throw MalformedBytes() }
            response.part = StoredResponse.Part(range: lower..<upper, completeLength: length)
        }
        if traits.contains(.responseURL) { responseURL = try reader.text() }
        if traits.contains(.other) {
            let (mimeType, encoding) = (try reader.text(), try reader.text())
            other = OtherResponse(
                mimeType: mimeType.isEmpty ? nil : mimeType, textEncodingName: encoding.isEmpty ? nil : encoding,
                expectedContentLength: try reader.number())
        }
        if traits.contains(.userInfo) { userInfo = try reader.data() }
    }
}

extension ByteWriter {
    fileprivate mutating func put(_ fields: HTTPFields) {
        let encoded = EncodedFields(fields).bytes
        put(encoded.count)
        put(fixed: encoded)
    }
}

extension ByteReader {
    fileprivate mutating func facts() throws(MalformedBytes) -> StoredFacts {
        guard let facts = StoredFacts(encoded: try span(StoredFacts.encodedSize)) else { throw MalformedBytes() }
        return facts
    }

    fileprivate mutating func fields(of bytes: [UInt8]) throws(MalformedBytes) -> HTTPFields {
        let range = try range()
        if range.isEmpty { return HTTPFields() }
        guard let encoded = EncodedFields(bytes[range]) else { throw MalformedBytes() }
        return HTTPFields(encoded)
    }
}
