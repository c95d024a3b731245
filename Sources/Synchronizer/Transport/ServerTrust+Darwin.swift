#if canImport(Darwin)
    import Foundation
    import Security

    /// Applies a ``TLSConfiguration`` to the challenges of a `URLSession`, as far as `URLSessionConfiguration` cannot express it.
    struct ServerTrust: Sendable {
        private let tls: TLSConfiguration
        private let pins: [String: Set<String>]
        private let identity: ClientIdentity?
        /// The queue on which chains are verified. A verification may wait for the network.
        private let queue = DispatchQueue(label: "Synchronizer.trust", qos: .userInitiated, attributes: .concurrent)

        enum Decision: @unchecked Sendable {  // `URLCredential` is immutable
            /// The session decides by itself.
            case byDefault
            case use(URLCredential)
            case refuse(TLSFailure)
        }

        init(_ tls: TLSConfiguration) {
            self.tls = tls
            pins = tls.pinsByHost
            identity = ClientIdentity(tls.clientCertificate)
        }

        /// Whether a challenge is one of TLS. The delegate answers challenges of HTTP.
        static func isConcerned(with challenge: URLAuthenticationChallenge) -> Bool {
            [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate]
                .contains(challenge.protectionSpace.authenticationMethod)
        }

        func decide(_ challenge: URLAuthenticationChallenge, _ decided: @escaping @Sendable (Decision) -> Void) {
            let space = challenge.protectionSpace
            guard let trust = space.serverTrust else { return decided(identity?.decision ?? .byDefault) }
            let pins = pins[TLSConfiguration.canonical(space.host)]
            guard pins != nil || tls.additionalAuthorities != nil || !tls.trustsSystemAuthorities else {
                return decided(.byDefault)
            }
            let chain = Chain(trust: trust)
            queue.async { decided(verify(chain.trust, pins: pins)) }
        }

        /// Carries a `SecTrust` to one other thread.
        private struct Chain: @unchecked Sendable {  // only that thread uses it
            let trust: SecTrust
        }

        private func verify(_ trust: SecTrust, pins: Set<String>?) -> Decision {
            let authorities = CertificateReader.certificates(inPEM: tls.additionalAuthorities ?? "")
                .compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            // As on Linux. Otherwise a mistake in the text would show only at the first server that needs it.
            if tls.additionalAuthorities != nil, authorities.isEmpty { return .refuse(.authoritiesUnusable) }
            if !authorities.isEmpty || !tls.trustsSystemAuthorities {
                SecTrustSetAnchorCertificates(trust, authorities as CFArray)
                SecTrustSetAnchorCertificatesOnly(trust, !tls.trustsSystemAuthorities)
            }
            var error: CFError?
            guard SecTrustEvaluateWithError(trust, &error) else { return .refuse(Self.failure(error, of: trust)) }
            if let pins, !pins.contains(Self.pin(of: trust) ?? "") { return .refuse(.pinnedKey) }
            return .use(URLCredential(trust: trust))
        }

        private static func pin(of trust: SecTrust) -> String? {
            certificate(of: trust).flatMap(CertificateReader.pin)
        }

        /// The server's own certificate, in DER.
        private static func certificate(of trust: SecTrust) -> Data? {
            (SecTrustCopyCertificateChain(trust) as? [SecCertificate])?.first.map { SecCertificateCopyData($0) as Data }
        }

        private static func failure(_ error: CFError?, of trust: SecTrust) -> TLSFailure {
            switch error.map({ OSStatus(CFErrorGetCode($0)) }) {
            case errSecCertificateExpired: .expired
            case errSecCertificateNotValidYet: .notYetValid
            case errSecHostNameMismatch: .wrongHost
            case errSecNotTrusted, errSecCreateChainFailed:
                certificate(of: trust).map(CertificateReader.isSelfSigned) == true ? .selfSigned : .unknownAuthority
            default: .untrusted
            }
        }
    }
#endif
