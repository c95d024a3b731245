#if !canImport(Darwin)
    import Foundation

    extension TLSConfiguration.ClientCertificate {
        /// Creates a certificate from PEM. On Linux only: Apple's systems have no function that reads such a key.
        /// - Parameters:
        ///   - certificate: The certificate. Intermediate certificates may follow it.
        ///   - privateKey: Its private key.
        ///   - password: The password that the key is encrypted with; nil if it is not encrypted.
        public init(pem certificate: Data, privateKey: Data, password: String? = nil) {
            content = .pem(certificate: certificate, privateKey: privateKey, password: password)
        }
    }
#endif
