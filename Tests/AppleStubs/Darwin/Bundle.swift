import Foundation

// SwiftPM makes it for a module with resources.
extension Bundle {
    static var module: Bundle { .main }
}
