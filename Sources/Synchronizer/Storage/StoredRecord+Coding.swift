import Foundation
import HTTPCaching

extension StoredRecord {
    private static let format: UInt8 = 1

    /// What is present, as a bit each.
    private struct Parts: OptionSet {
        let rawValue: UInt8

        static let injected = Parts(rawValue: 1)
        static let part = Parts(rawValue: 2)
        static let completeLength = Parts(rawValue: 4)
        static let responseURL = Parts(rawValue: 8)
        static let other = Parts(rawValue: 16)
        static let userInfo = Parts(rawValue: 32)
    }

    private var parts: Parts {
        var parts: Parts = []
        if response.injectedCacheControl != nil { parts.insert(.injected) }
        if response.part != nil { parts.insert(.part) }
        if response.part?.completeLength != nil { parts.insert(.completeLength) }
        if responseURL != nil { parts.insert(.responseURL) }
        if other != nil { parts.insert(.other) }
        if userInfo != nil { parts.insert(.userInfo) }
        return parts
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.put(Self.format)
        writer.put(parts.rawValue)
        writer.put(response.url)
        writer.put(response.method)
        writer.put(response.status)
        writer.put(response.requestTime)
        writer.put(response.responseTime)
        writer.put(response.selectingFields)
        writer.put(response.fields)
        putOptionalParts(&writer)
        return writer.bytes
    }

    private func putOptionalParts(_ writer: inout ByteWriter) {
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

    /// Reads what `encoded` gave.
    init(decoding bytes: UnsafeRawBufferPointer) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.format else { throw MalformedBytes() }
        let parts = Parts(rawValue: try reader.byte())
        let url = try reader.text()
        let method = try reader.text()
        let status = try reader.number()
        let requestTime = try reader.time()
        let responseTime = try reader.time()
        let selectingFields = try reader.fields()
        response = StoredResponse(
            url: url, method: method, selectingFields: selectingFields, status: status, fields: try reader.fields(),
            requestTime: requestTime, responseTime: responseTime)
        try readOptionalParts(parts, &reader)
        guard reader.isAtEnd else { throw MalformedBytes() }
    }

    private mutating func readOptionalParts(_ parts: Parts, _ reader: inout ByteReader) throws(MalformedBytes) {
        if parts.contains(.injected) { response.injectedCacheControl = try reader.text() }
        if parts.contains(.part) {
            let (lower, upper) = (try reader.number(), try reader.number())
            guard lower <= upper else { throw MalformedBytes() }
            let length = parts.contains(.completeLength) ? try reader.number() : nil
            response.part = StoredResponse.Part(range: lower..<upper, completeLength: length)
        }
        if parts.contains(.responseURL) { responseURL = try reader.text() }
        if parts.contains(.other) {
            let (mimeType, encoding) = (try reader.text(), try reader.text())
            other = OtherResponse(
                mimeType: mimeType.isEmpty ? nil : mimeType, textEncodingName: encoding.isEmpty ? nil : encoding,
                expectedContentLength: try reader.number())
        }
        if parts.contains(.userInfo) { userInfo = try reader.data() }
    }
}

extension ByteWriter {
    fileprivate mutating func put(_ fields: HTTPFields) {
        put(fields.lines.count)
        for line in fields.lines {
            put(line.name)
            put(line.value)
        }
    }
}

extension ByteReader {
    fileprivate mutating func fields() throws(MalformedBytes) -> HTTPFields {
        let count = try number()
        var fields = HTTPFields()
        for _ in 0..<max(0, count) {  // ends with the bytes, however large the number
            fields.add(try text(), try text())
        }
        return fields
    }
}
