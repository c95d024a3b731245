@_exported import Foundation

public typealias CFString = String
public typealias CFData = Data
public typealias CFDictionary = [CFString: Any]

public final class CGImage: Sendable {
    public let width: Int
    public let height: Int
    public let bytesPerRow: Int

    public init(stubWidth width: Int, height: Int) {
        self.width = width
        self.height = height
        bytesPerRow = width * 4
    }
}
