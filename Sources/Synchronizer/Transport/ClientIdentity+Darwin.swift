#if canImport(Darwin)
    import Foundation
    import Security

    /// The credential of a session's client certificate. It is imported when a server first asks for it, and then kept.
    final class ClientIdentity: Sendable {
        private let data: Data
        private let password: String
        private let imported = Locked<ServerTrust.Decision?>(nil)

        /// Returns nil if there is no certificate in PKCS #12.
        init?(_ certificate: TLSConfiguration.ClientCertificate?) {
            guard case .pkcs12(let data, let password)? = certificate?.content else { return nil }
            (self.data, self.password) = (data, password)
        }

        var decision: ServerTrust.Decision {
            imported.withLock { imported in
                if let imported { return imported }
                // A failure is not kept: a keychain may be locked for a time.
                guard let credential = makeCredential() else { return .refuse(.clientCertificateUnusable) }
                let decision = ServerTrust.Decision.use(credential)
                imported = decision
                return decision
            }
        }

        private func makeCredential() -> URLCredential? {
            var options: [String: Any] = [kSecImportExportPassphrase as String: password]
            // Without this option macOS imports into the user's keychain. Older versions always do.
            if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
                options[kSecImportToMemoryOnly as String] = true
            }
            var items: CFArray?
            guard SecPKCS12Import(data as CFData, options as CFDictionary, &items) == errSecSuccess,
                let item = (items as? [[String: Any]])?.first, let found = item[kSecImportItemIdentity as String]
            else { return nil }
            // Swift has no conditional cast to types of Core Foundation.
            // swift-format-ignore: NeverForceUnwrap
            let identity = found as! SecIdentity  // Security puts nothing else under kSecImportItemIdentity.
            let chain = item[kSecImportItemCertChain as String] as? [Any]
            return URLCredential(
                identity: identity, certificates: chain.map { Array($0.dropFirst()) }, persistence: .forSession)
        }
    }
#endif
