import Foundation

/// The arguments of the command line.
struct Arguments {
    enum Task {
        case tour(json: URL?)
        case load([URL])
        case help
    }

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    static let usage = """
        Scripts/demo [--json FILE]   seven passes against a server of its own; --json writes the figures too
        Scripts/demo URL…            loads these, and says for each where it came from and why
        """

    let task: Task

    init(_ arguments: some Sequence<String>) throws {
        let arguments = Array(arguments)
        switch arguments.first {
        case nil: task = .tour(json: nil)
        case "-h", "--help": task = .help
        case "--json":
            guard arguments.count == 2 else {
                throw Wrong(description: "--json needs the name of a file\n\(Self.usage)")
            }
            task = .tour(json: URL(fileURLWithPath: arguments[1]))
        default: task = .load(try arguments.map(Self.url))
        }
    }

    private static func url(_ argument: String) throws -> URL {
        guard let url = URL(string: argument), ["http", "https"].contains(url.scheme?.lowercased()), url.host != nil
        else { throw Wrong(description: "\(argument) is neither an http nor an https URL\n\(usage)") }
        return url
    }
}
