import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Reading certificates", .bounded)
struct CertificateReaderTests {
    static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIBhDCCASmgAwIBAgIUIzuTvmYo6uTEBhzkzYI63zKou+UwCgYIKoZIzj0EAwIw
        FjEUMBIGA1UEAwwLcGluLmV4YW1wbGUwIBcNMjYxMTIyMTIxODExWhgPMjEyNjEw
        MjkxMjE4MTFaMBYxFDASBgNVBAMMC3Bpbi5leGFtcGxlMFkwEwYHKoZIzj0CAQYI
        KoZIzj0DAQcDQgAEEjzmD74MZJolKsIlpiolBwJMLmJFEtBn4mCU4EoEjswTCGa7
        PHDz2rZtEJx0A5Q3aFHeMFSB+pBLU92QqYacD6NTMFEwHQYDVR0OBBYEFBV1sUED
        BPvPCeuD4iH0UPZbBl2FMB8GA1UdIwQYMBaAFBV1sUEDBPvPCeuD4iH0UPZbBl2F
        MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhALYLx+kRMFE09dbs
        mOpSPVlQVPdwShgbC4/wQCegFe+nAiEA7R6NK7V2iS9aZwBWo8fXUK0bayLhjxW0
        pH90XqwYfLM=
        -----END CERTIFICATE-----
        """

    @Test("gives the pin that openssl computes of the public key")
    func pin() throws {
        let certificate = try #require(CertificateReader.certificates(inPEM: Self.pem).first)
        #expect(CertificateReader.pin(ofCertificate: certificate) == "fkEtVGMyj9MWc5GzrYpo7U+oIp6LEMebh8b1O4Q2PNo=")
    }

    @Test("tells certificates that are signed by themselves from others")
    func selfSigned() throws {
        func isSelfSigned(_ name: TestCertificate) throws -> Bool {
            CertificateReader.isSelfSigned(try #require(CertificateReader.certificates(inPEM: name.text).first))
        }
        #expect(try isSelfSigned(.selfSigned) && isSelfSigned(.authority))
        #expect(try !isSelfSigned(.good) && !isSelfSigned(.unknownAuthority))
    }

    @Test("finds all certificates of a text, and nothing else")
    func several() {
        let text = "a key\n\(Self.pem)\nanother\n\(Self.pem)-----BEGIN CERTIFICATE-----\nunfinished"
        #expect(CertificateReader.certificates(inPEM: text).count == 2)
        #expect(CertificateReader.certificates(inPEM: "none").isEmpty)
    }

    @Test("of bytes that are cut off or changed ends without a crash")
    func hostile() throws {
        let der = try #require(CertificateReader.certificates(inPEM: Self.pem).first)
        for count in 0..<150 { #expect(CertificateReader.pin(ofCertificate: der.prefix(count)) == nil) }
        for index in der.indices {
            for value: UInt8 in [0, 0x7F, 0x80, 0x84, 0xFF] {
                var changed = der
                changed[index] = value
                _ = CertificateReader.pin(ofCertificate: changed)
            }
        }
    }
}
