#if !canImport(Darwin)
    import Foundation

    /// The functions of OpenSSL that a server needs. They are looked up in the library that libcurl uses, so that the tests
    /// need no package that the product does not need.
    struct OpenSSL: Sendable {
        typealias Object = OpaquePointer
        typealias SelectProtocol =
            @convention(c) (
                Object?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
                UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
            ) -> Int32

        let serverMethod: @convention(c) () -> Object?
        let newContext: @convention(c) (Object?) -> Object?
        let freeContext: @convention(c) (Object?) -> Void
        let useCertificate: @convention(c) (Object?, UnsafePointer<CChar>) -> Int32
        let useKey: @convention(c) (Object?, UnsafePointer<CChar>, Int32) -> Int32
        let loadAuthorities: @convention(c) (Object?, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Int32
        let setVerification: @convention(c) (Object?, Int32, OpaquePointer?) -> Void
        let control: @convention(c) (Object?, Int32, Int, OpaquePointer?) -> Int
        let setProtocolSelection: @convention(c) (Object?, SelectProtocol, UnsafeMutableRawPointer?) -> Void
        let newConnection: @convention(c) (Object?) -> Object?
        let freeConnection: @convention(c) (Object?) -> Void
        let setDescriptor: @convention(c) (Object?, Int32) -> Int32
        let accept: @convention(c) (Object?) -> Int32
        let read: @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32
        let write: @convention(c) (Object?, UnsafeRawPointer?, Int32) -> Int32
        let pending: @convention(c) (Object?) -> Int32
        let shutdown: @convention(c) (Object?) -> Int32

        static let shared = OpenSSL()

        private init() {
            guard let library = dlopen("libssl.so.3", RTLD_NOW) else {
                preconditionFailure("The tests of TLS need libssl.so.3, which Debian's libcurl4 depends on.")
            }
            // The types are those of OpenSSL's headers.
            func find<Function>(_ name: String) -> Function {
                guard let symbol = dlsym(library, name) else { preconditionFailure("libssl has no \(name)") }
                return unsafeBitCast(symbol, to: Function.self)
            }
            serverMethod = find("TLS_server_method")
            newContext = find("SSL_CTX_new")
            freeContext = find("SSL_CTX_free")
            useCertificate = find("SSL_CTX_use_certificate_chain_file")
            useKey = find("SSL_CTX_use_PrivateKey_file")
            loadAuthorities = find("SSL_CTX_load_verify_locations")
            setVerification = find("SSL_CTX_set_verify")
            control = find("SSL_CTX_ctrl")
            setProtocolSelection = find("SSL_CTX_set_alpn_select_cb")
            newConnection = find("SSL_new")
            freeConnection = find("SSL_free")
            setDescriptor = find("SSL_set_fd")
            accept = find("SSL_accept")
            read = find("SSL_read")
            write = find("SSL_write")
            pending = find("SSL_pending")
            shutdown = find("SSL_shutdown")
        }
    }

    extension OpenSSL {
        /// A context for a server.
        func context(_ options: TLSRelay.Options) -> Object? {
            let context = newContext(serverMethod())
            let path = options.certificate.url.path
            precondition(useCertificate(context, path) == 1 && useKey(context, path, 1) == 1, "\(path) is unusable")
            let maximum = options.maximumVersion == .tls12 ? 0x0303 : 0x0304
            _ = control(context, 124, maximum, nil)  // SSL_CTRL_SET_MAX_PROTO_VERSION
            if options.wantsClientCertificate {
                precondition(loadAuthorities(context, TestCertificate.authority.url.path, nil) == 1)
                setVerification(context, 3, nil)  // SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
            }
            setProtocolSelection(context, options.speaksHTTP2 ? Self.selectHTTP2 : Self.selectHTTP1, nil)
            return context
        }

        private static let selectHTTP2: SelectProtocol = { _, chosen, length, offered, count, _ in
            OpenSSL.select("h2", chosen, length, offered, count)
        }

        private static let selectHTTP1: SelectProtocol = { _, chosen, length, offered, count, _ in
            OpenSSL.select("http/1.1", chosen, length, offered, count)
        }

        /// Chooses a protocol out of the client's list, each with its length before it (RFC 7301).
        private static func select(
            _ name: String, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
            _ length: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ count: UInt32
        ) -> Int32 {
            var place = 0
            while let offered, place < count {
                let size = Int(offered[place])
                if UnsafeBufferPointer(start: offered + place + 1, count: size).elementsEqual(name.utf8) {
                    chosen?.pointee = offered + place + 1
                    length?.pointee = UInt8(size)
                    return 0  // SSL_TLSEXT_ERR_OK
                }
                place += size + 1
            }
            return 3  // SSL_TLSEXT_ERR_NOACK
        }
    }
#endif
