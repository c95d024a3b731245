import CCurl
import Foundation
import TransportSecurity

/// The libcurl options for a `TLSConfiguration`, created once for a session.
///
/// If the system has a directory of hashed certificates, OpenSSL reads from it only the files that a chain needs. Reading the
/// system's bundle instead takes 20 ms of CPU for each connection. `CAINFO_BLOB` replaces the bundle, but not the directory. So
/// without a directory, the blob consists of the bundle and the additional authorities.
struct TLSSettings: Sendable {
    private var authorities: Data?
    private var directory: String?
    private var bundle: String?
    private let certificate: TLSConfiguration.ClientCertificate?
    private let pins: [String: String]
    private let version: TLSConfiguration.Version

    init(_ options: TLSConfiguration, system: SystemAuthorities = .ofLibcurl) {
        certificate = options.clientCertificate
        version = options.minimumVersion
        pins = options.pinsByHost.mapValues { keys in
            keys.isEmpty ? "sha256//" : keys.sorted().map { "sha256//" + $0 }.joined(separator: ";")
        }
        let additional = options.additionalAuthorities.map { Data($0.utf8) }
        guard options.trustsSystemAuthorities else {
            authorities = additional ?? Data()
            return
        }
        directory = system.directory
        if directory != nil {
            authorities = additional
        } else if let additional {
            authorities =
                system.bundle.flatMap { try? Data(contentsOf: URL(fileURLWithPath: $0)) }.map {
                    $0 + Data("\n".utf8) + additional
                } ?? additional
        } else {
            bundle = system.bundle
        }
    }

    /// Whether the session presents a certificate.
    var hasCertificate: Bool { certificate != nil }

    /// Sets the options that all connections of a session have in common.
    func apply(to easy: UnsafeMutableRawPointer) {
        setTrust(
            directory: CURLOPT_CAPATH, file: CURLOPT_CAINFO, authorities: CURLOPT_CAINFO_BLOB,
            version: CURLOPT_SSLVERSION, on: easy)
        switch certificate?.content {
        case .pkcs12(let data, let password):
            _ = synchronizer_setopt_string(easy, CURLOPT_SSLCERTTYPE, "P12")
            Self.set(CURLOPT_SSLCERT_BLOB, to: data, on: easy)
            _ = synchronizer_setopt_string(easy, CURLOPT_KEYPASSWD, password)
        case .pem(let certificate, let key, let password):
            Self.set(CURLOPT_SSLCERT_BLOB, to: certificate, on: easy)
            Self.set(CURLOPT_SSLKEY_BLOB, to: key, on: easy)
            // Without a password OpenSSL would ask for one on the terminal.
            _ = synchronizer_setopt_string(easy, CURLOPT_KEYPASSWD, password ?? "")
        case nil: break
        }
    }

    /// Has an HTTPS proxy trusted like a server. The client's certificate and the pinned keys are for servers alone.
    func applyToProxy(of easy: UnsafeMutableRawPointer) {
        setTrust(
            directory: CURLOPT_PROXY_CAPATH, file: CURLOPT_PROXY_CAINFO, authorities: CURLOPT_PROXY_CAINFO_BLOB,
            version: CURLOPT_PROXY_SSLVERSION, on: easy)
    }

    private func setTrust(
        directory directoryOption: CURLoption, file fileOption: CURLoption, authorities authoritiesOption: CURLoption,
        version versionOption: CURLoption, on easy: UnsafeMutableRawPointer
    ) {
        _ = synchronizer_setopt_string(easy, directoryOption, directory)
        _ = synchronizer_setopt_string(easy, fileOption, bundle)
        if let authorities { Self.set(authoritiesOption, to: authorities, on: easy) }
        let lowest = version == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
        _ = synchronizer_setopt_long(easy, versionOption, lowest)
    }

    /// Sets the pinned public keys of a host.
    func pin(_ host: @autoclosure () -> String?, on easy: UnsafeMutableRawPointer) {
        guard !pins.isEmpty, let host = host() else { return }
        _ = synchronizer_setopt_string(easy, CURLOPT_PINNEDPUBLICKEY, pins[TLSConfiguration.canonical(host)])
    }

    private static func set(_ option: CURLoption, to data: Data, on easy: UnsafeMutableRawPointer) {
        data.withUnsafeBytes { bytes in
            // libcurl copies the bytes, and does not change them.
            var blob = curl_blob(
                data: UnsafeMutableRawPointer(mutating: bytes.baseAddress), len: bytes.count,
                flags: UInt32(CURL_BLOB_COPY))
            _ = synchronizer_setopt_pointer(easy, option, &blob)
        }
    }
}

/// Where the system keeps the certificates of its authorities.
struct SystemAuthorities: Sendable, Hashable {
    /// A directory with a file for each certificate, named by the hash of its subject.
    var directory: String?
    /// A file with all certificates.
    var bundle: String?

    /// The places that libcurl was built for. A directory without hashed certificates is not used.
    static let ofLibcurl: SystemAuthorities = {
        guard let easy = curl_easy_init() else { return SystemAuthorities() }
        defer { curl_easy_cleanup(easy) }
        let directory = synchronizer_info_string(easy, CURLINFO_CAPATH).map { String(cString: $0) }
        return SystemAuthorities(
            directory: directory.flatMap { isHashed($0) ? $0 : nil },
            bundle: synchronizer_info_string(easy, CURLINFO_CAINFO).map { String(cString: $0) })
    }()

    private static func isHashed(_ directory: String) -> Bool {
        (try? FileManager.default.contentsOfDirectory(atPath: directory))?.contains { $0.hasSuffix(".0") } ?? false
    }
}
