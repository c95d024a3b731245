import Foundation

/// A certificate of `Tests/TestSupport/Certificates`, with its key.
public enum TestCertificate: String, Sendable {
    case authority, good, expired
    case otherGood = "other-good"
    case notYetValid = "not-yet-valid"
    case wrongHost = "wrong-host"
    case unknownAuthority = "unknown-authority"
    case selfSigned = "self-signed"

    /// The file, in PEM.
    public var url: URL { Self.folder.appendingPathComponent("\(rawValue).pem") }

    /// The text of the file.
    public var text: String { (try? String(contentsOf: url, encoding: .utf8)) ?? "" }

    /// A client's certificate in PKCS #12, whose password is `secret`.
    public static var client: Data {
        (try? Data(contentsOf: folder.appendingPathComponent("client.p12"))) ?? Data()
    }

    /// The pin of the good certificate's key.
    public static let goodPin = "/7df7FOkMB+th0kwrB27ygivvMw2RovimU5XP+msBeo="

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("Certificates")
}
