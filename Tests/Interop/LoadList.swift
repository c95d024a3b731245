import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What `Scripts/interop` says is to be loaded: a line for each origin and each single load.
struct LoadList {
    /// A server that serves the common list.
    struct Origin {
        let name: String
        let base: URL
        /// The ALPN name of the protocol that it speaks.
        let protocolName: String
        let options: Options
    }

    /// One load, with what has to come of it: a file, a status, or the name of an error.
    struct Load {
        let name: String
        let url: URL
        let expectation: String
        let options: Options
    }

    /// The configuration of the client.
    struct Options {
        var proxy: URL?
        var user: URLCredential?
        var pin: String?
        var minimum: String?
        var certificate: URL?
    }

    private(set) var origins: [Origin] = []
    private(set) var loads: [Load] = []
    /// The certificate of the authority, in PEM.
    private(set) var authority = ""
    /// The files that the servers serve.
    private(set) var content = URL(fileURLWithPath: "/")

    init(file: String) throws {
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            switch words[0] {
            case "authority": authority = try String(contentsOfFile: words[1], encoding: .utf8)
            case "content": content = URL(fileURLWithPath: words[1])
            case "origin": origins.append(try Self.origin(words))
            case "load": loads.append(try Self.load(words))
            default: throw Unexpected("a line of the list", line)
            }
        }
    }

    private static func origin(_ words: [String]) throws -> Origin {
        try Origin(name: words[1], base: url(words[2]), protocolName: words[3], options: options(words.dropFirst(4)))
    }

    private static func load(_ words: [String]) throws -> Load {
        try Load(name: words[1], url: url(words[2]), expectation: words[3], options: options(words.dropFirst(4)))
    }

    private static func url(_ word: String) throws -> URL {
        guard let url = URL(string: word) else { throw Unexpected("a URL", word) }
        return url
    }

    private static func options(_ words: ArraySlice<String>) throws -> Options {
        var options = Options()
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            switch parts[0] {
            case "proxy": options.proxy = try url(parts[1])
            case "user": options.user = credential(parts[1])
            case "pin": options.pin = parts[1]
            case "minimum": options.minimum = parts[1]
            case "certificate": options.certificate = URL(fileURLWithPath: parts[1])
            default: throw Unexpected("an option", word)
            }
        }
        return options
    }

    private static func credential(_ words: String) -> URLCredential {
        let parts = words.split(separator: ":").map(String.init)
        return URLCredential(user: parts[0], password: parts[1], persistence: .forSession)
    }
}

/// Something that is not as it should be.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ what: String, _ found: Any) {
        description = "\(what): \(found)"
    }
}
