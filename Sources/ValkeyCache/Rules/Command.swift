import Foundation

/// A command to the server.
package struct Command: Sendable {
    package enum Argument: Sendable {
        case text(String)
        case data(Data)
        case script(Script)
    }

    package let arguments: [Argument]
    /// The keys of the command. In a cluster, they must be on one node, which runs the command; any node runs a command without
    /// keys.
    package let keys: [String]

    package init(_ words: [String], key: String? = nil) {
        self.init(words, keys: key.map { [$0] } ?? [])
    }

    package init(_ words: [String], keys: [String]) {
        arguments = words.map(Argument.text)
        self.keys = keys
    }

    /// Runs a script. All keys must have the same hash tag.
    package init(_ script: Script, keys: [String], arguments: [Argument]) {
        self.arguments =
            [.text("EVALSHA"), .script(script), .text("\(keys.count)")] + keys.map(Argument.text) + arguments
        self.keys = keys
    }

    /// The cluster slot of the command's keys; nil without a key.
    package var slot: Int? { keys.first.map(ClusterSlot.of) }

    /// The bytes to send: an array of strings (RESP 2).
    ///
    /// - Parameter digest: the digest by which the server identifies a script.
    package func encode(into bytes: inout [UInt8], digest: (Script) -> String) {
        Self.put(arguments.count, after: "*", into: &bytes)
        for argument in arguments {
            switch argument {
            case .text(let text): Self.put(text.utf8, into: &bytes)
            case .data(let data): Self.put(data, into: &bytes)
            case .script(let script): Self.put(digest(script).utf8, into: &bytes)
            }
        }
    }

    private static func put(_ value: some Collection<UInt8>, into bytes: inout [UInt8]) {
        put(value.count, after: "$", into: &bytes)
        bytes += value
        bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    }

    private static func put(_ number: Int, after mark: Unicode.Scalar, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: mark))
        bytes += String(number).utf8
        bytes += [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    }
}

/// The slots of a cluster.
package enum ClusterSlot {
    /// The slot of a key: CRC-16 (XMODEM) of its hash tag, if it has one.
    package static func of(_ key: String) -> Int {
        let bytes = Array(key.utf8)
        guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
            let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return Int(crc(bytes[...])) % 16_384 }
        return Int(crc(bytes[(open + 1)..<close])) % 16_384
    }

    private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(UInt16(0)) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte) << 8) { value, _ in
                value & 0x8000 == 0 ? value << 1 : value << 1 ^ 0x1021
            }
        }
    }
}
