// Just enough of Security for ServerTrust+Darwin.swift, with the signatures that it has on Apple's systems. Core
// Foundation's types are Swift's here.
import Foundation

public typealias CFData = Data
public typealias CFArray = [Any]
public typealias CFDictionary = [String: Any]
public typealias CFString = String
public typealias CFAllocator = AnyObject
public typealias OSStatus = Int32

public final class CFError {}
public final class SecTrust {}
public final class SecCertificate {}
public final class SecIdentity {}

public let errSecSuccess: OSStatus = 0
public let errSecCreateChainFailed: OSStatus = -25318
public let errSecCertificateExpired: OSStatus = -67818
public let errSecCertificateNotValidYet: OSStatus = -67819
public let errSecHostNameMismatch: OSStatus = -67602
public let errSecNotTrusted: OSStatus = -67843
public let kSecImportExportPassphrase: CFString = "passphrase"
public let kSecImportToMemoryOnly: CFString = "memory"
public let kSecImportItemIdentity: CFString = "identity"
public let kSecImportItemCertChain: CFString = "chain"

public func CFErrorGetCode(_ error: CFError!) -> Int { 0 }
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? { nil }
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { CFData() }
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray?) -> OSStatus { errSecSuccess }
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus { errSecSuccess }
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }
public func SecPKCS12Import(
    _ data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { errSecSuccess }
