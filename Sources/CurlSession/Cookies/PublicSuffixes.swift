import Foundation

/// The domains below which anyone can register a name, such as `com` or `co.uk`. No host may set a cookie for all of them.
enum PublicSuffixes {
    /// Whether a domain is a public suffix. Every domain of one label is. The others are known only if libcurl was built with
    /// libpsl, as Debian's is.
    static func contain(_ domain: String) -> Bool {
        let end = domain.lastIndex { $0 != "." }.map(domain.index(after:)) ?? domain.startIndex
        let domain = domain[..<end]  // a dot at the end only says that the domain is absolute
        guard domain.utf8.contains(UInt8(ascii: ".")) else { return true }
        guard let list, let list = list.context() else { return false }
        return domain.withCString { Self.list?.isSuffix(list, $0, anyKind) != 0 }
    }

    /// libpsl's `PSL_TYPE_ANY`: the suffixes of registries and of hosting providers.
    private static let anyKind: Int32 = 3

    private struct List: Sendable {
        let context: @convention(c) @Sendable () -> OpaquePointer?
        let isSuffix: @convention(c) @Sendable (OpaquePointer, UnsafePointer<CChar>, Int32) -> Int32
    }

    /// The functions of libpsl; nil without it. The package does not link libpsl, but finds it if libcurl has loaded it.
    private static let list: List? = {
        guard let context = dlsym(nil, "psl_builtin"), let isSuffix = dlsym(nil, "psl_is_public_suffix2") else {
            return nil
        }
        // `dlsym` returns a data pointer, which POSIX lets a program use as a function. Swift converts it only with
        // `unsafeBitCast`. The types are those of libpsl.h, and have not changed since 2014.
        return List(
            context: unsafeBitCast(context, to: (@convention(c) @Sendable () -> OpaquePointer?).self),
            isSuffix: unsafeBitCast(
                isSuffix,
                to: (@convention(c) @Sendable (OpaquePointer, UnsafePointer<CChar>, Int32) -> Int32).self))
    }()
}
