/// A resource whose body goes to a file while it arrives, instead of being held in memory.
package protocol SpooledResource: Resource {
    /// Where the body goes; nil if it goes to memory after all.
    var target: FileTarget? { get }

    /// Makes the object from the whole body, on a background thread, as ``Resource/parse`` does.
    func object(from body: StoredBytes) throws -> ParsedObject
}
