/// Why a store does not keep a response.
package enum StoreRefusal: Sendable {
    case tooLarge
    /// The disk is full, or writing to it fails for another reason.
    case diskFailed
}
