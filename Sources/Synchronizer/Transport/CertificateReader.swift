import Foundation
import HTTPCaching

/// Reads X.509 certificates as far as pins and additional authorities need it, on Apple platforms. (On Linux libcurl
/// does this.) Pure.
enum CertificateReader {
    /// The certificates of a text in PEM, as DER. Other blocks are skipped.
    static func certificates(inPEM text: String) -> [Data] {
        let parts = text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst()
        return parts.compactMap { part in
            guard let end = part.range(of: "-----END CERTIFICATE-----") else { return nil }
            return Data(base64Encoded: String(part[..<end.lowerBound]), options: .ignoreUnknownCharacters)
        }
    }

    /// The base64 of the SHA-256 of a certificate's `SubjectPublicKeyInfo`; nil if the DER is not a certificate.
    static func pin(ofCertificate der: Data) -> String? {
        fields(Array(der)[...]).map { Data(SHA256.bytes(Array($0[4]))).base64EncodedString() }
    }

    /// Whether issuer and subject of a certificate are the same.
    static func isSelfSigned(_ der: Data) -> Bool {
        fields(Array(der)[...]).map { $0[1] == $0[3] } ?? false
    }

    /// Signature, issuer, validity, subject and subjectPublicKeyInfo. Before them are the version, which is optional, and the
    /// serial number (RFC 5280 §4.1).
    private static func fields(_ der: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        var certificate = der
        guard var fields = takeElement(&certificate, of: .sequence)?.content,
            var signed = takeElement(&fields, of: .sequence)?.content
        else { return nil }
        if signed.first == Tag.version.rawValue { _ = takeElement(&signed, of: .version) }
        guard takeElement(&signed, of: .integer) != nil else { return nil }
        let rest = (0..<5).compactMap { _ in takeElement(&signed, of: .sequence)?.whole }
        return rest.count == 5 ? rest : nil
    }

    private enum Tag: UInt8 {
        case integer = 0x02
        case sequence = 0x30
        case version = 0xA0
    }

    /// Takes the next element, if it has this tag and is complete (X.690 §8.1).
    private static func takeElement(
        _ bytes: inout ArraySlice<UInt8>, of tag: Tag
    ) -> (whole: ArraySlice<UInt8>, content: ArraySlice<UInt8>)? {
        guard bytes.count >= 2, bytes.first == tag.rawValue else { return nil }
        var start = bytes.startIndex + 2
        var length = Int(bytes[start - 1])
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...4).contains(count), bytes.endIndex - start >= count else { return nil }
            let word = bytes[start..<(start + count)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            length = Int(clamping: word)
            start += count
        }
        guard length <= bytes.endIndex - start else { return nil }
        defer { bytes = bytes[(start + length)...] }
        return (bytes[..<(start + length)], bytes[start..<(start + length)])
    }
}
