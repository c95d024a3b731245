import Foundation
import SQLiteCache
import ValkeyCache

/// Lists what a cache directory holds, checks it, or empties it.
@main
struct CacheTool {
    static func main() {
        do {
            exit(try run(Arguments(CommandLine.arguments.dropFirst())))
        } catch {
            FileHandle.standardError.write(Data("✘ \(error)\n".utf8))
            exit(2)
        }
    }

    /// Returns the program's exit status.
    private static func run(_ arguments: Arguments) throws -> Int32 {
        switch arguments.task {
        case .help:
            print(Arguments.usage)
            return 0
        case .list(let directory): return try list(CacheSearch.find(directory))
        case .verify(let directory): return try verify(CacheSearch.find(directory))
        case .purge(let directory): return try purge(directory)
        case .server(let url, let namespace, let verifies):
            return try SharedCacheReport.print(url, namespace: namespace, verifies: verifies)
        }
    }

    private static func list(_ directory: URL) throws -> Int32 {
        let contents = try CacheInspection(directory).contents()
        let items = contents.entries.map {
            Listing.Item(response: $0.response, bodySize: $0.bodySize, lastUse: $0.lastUse)
        }
        for line in Listing(items, at: Date()).lines { print(line) }
        print(summary(contents))
        if contents.corruptRows > 0 { print("\(contents.corruptRows) more can't be read; --verify has the details.") }
        if let corruption = contents.corruption { print("The rest can't be read: \(corruption)") }
        return 0
    }

    /// Returns 1 if anything is corrupt.
    private static func verify(_ directory: URL) throws -> Int32 {
        do {
            return try verify(CacheInspection(directory))
        } catch let unusable as CacheInspection.Unusable where unusable.isCorrupt {
            print("✘ \(unusable)")
            return 1
        }
    }

    private static func verify(_ inspection: CacheInspection) throws -> Int32 {
        let contents = try inspection.contents()
        var findings = try inspection.structuralCorruption().map { ["The database: \($0)"] } ?? []
        if findings.isEmpty, let corruption = contents.corruption { findings.append("The database: \(corruption)") }
        if contents.corruptRows > 0 { findings.append("Rows that fail their check: \(contents.corruptRows)") }
        for entry in contents.entries where try inspection.isIntact(entry) == false {
            findings.append("The body of \(Words.printable(entry.response.url)) is missing or corrupt.")
        }
        let objects = try contents.objects.filter { try inspection.isIntact($0) == false }.count
        if objects > 0 { findings.append("Parsed objects that are missing, or not what was stored: \(objects)") }
        findings.forEach { print("✘ \($0)") }
        print((findings.isEmpty ? "✔ Nothing is corrupt: " : "Looked at ") + summary(contents))
        return findings.isEmpty ? 0 : 1
    }

    /// Returns 1 if entries that were there before are left.
    private static func purge(_ directory: URL) throws -> Int32 {
        let before = try contents(of: directory)
        // Without capacities, this cache keeps nothing itself. Its removals apply to every process that uses the directory.
        SQLiteURLCache(memoryCapacity: 0, diskCapacity: 0, directory: directory).purge()
        let after = (try? contents(of: directory).entries) ?? []
        print("Removed \(before.corruption == nil ? summary(before) : "a corrupt cache.")")
        // Entries that another process has stored in the meantime do not count.
        return Set(before.entries.map(\.id)).isDisjoint(with: after.map(\.id)) ? 0 : 1
    }

    /// What can be read of a cache that is to be emptied, which may be corrupt.
    private static func contents(of directory: URL) throws -> CacheInspection.Contents {
        do {
            return try CacheInspection(directory).contents()
        } catch let unusable as CacheInspection.Unusable where unusable.isCorrupt {
            return CacheInspection.Contents(corruption: unusable.description)
        }
    }

    private static func summary(_ contents: CacheInspection.Contents) -> String {
        func counted(_ entries: [CacheInspection.Entry], as name: String) -> String {
            "\(entries.count) \(name)\(entries.count == 1 ? "" : "s")"
        }
        func size(_ entries: [CacheInspection.Entry]) -> String { Words.size(entries.reduce(0) { $0 + $1.bodySize }) }
        let (entries, objects) = (contents.entries, contents.objects)
        return "\(counted(entries, as: "response")), \(size(entries)) of bodies"
            + (objects.isEmpty ? "." : "; \(counted(objects, as: "parsed object")), \(size(objects)).")
    }
}

/// The arguments of the command line.
private struct Arguments {
    enum Task {
        case list(URL)
        case verify(URL)
        case purge(URL)
        case server(String, namespace: String?, verifies: Bool)
        case help
    }

    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    static let usage = """
        synchronizer-cache DIR             lists the responses that a SQLiteURLCache keeps in DIR, or in a folder below it
        synchronizer-cache DIR --verify    checks the database and every body; exits with 1 if anything is corrupt
        synchronizer-cache DIR --purge     removes all entries of the cache in DIR itself, for every program that uses it
        synchronizer-cache URL [--namespace NAME] [--verify]
                                           the same for what a ValkeyURLCache keeps on a server (redis://… or unix://…)
        """

    let task: Task

    /// What to do with a server; nil if the arguments name none.
    private static func server(_ arguments: [String]) throws -> Task? {
        guard let place = arguments.firstIndex(where: { $0.contains("://") }) else { return nil }
        var rest = arguments
        let url = rest.remove(at: place)
        var namespace: String?
        if let option = rest.firstIndex(of: "--namespace"), option + 1 < rest.count {
            namespace = rest[option + 1]
            rest.removeSubrange(option...option + 1)
        }
        guard rest.isEmpty || rest == ["--verify"] else {
            throw Wrong(description: "With a URL, only --namespace NAME and --verify are possible.\n\(usage)")
        }
        do {
            _ = try ServerAddress(url)
        } catch {
            guard case .unknownScheme = error else { throw error }
            throw Wrong(description: "A URL must begin with redis://, valkey:// or unix://.\n\(usage)")
        }
        return .server(url, namespace: namespace, verifies: !rest.isEmpty)
    }

    init(_ arguments: some Sequence<String>) throws {
        if let server = try Self.server(Array(arguments)) {
            task = server
            return
        }
        // An empty argument, as of an unset variable, would mean the current directory.
        guard !arguments.contains("") else { throw Wrong(description: "An argument is empty.\n\(Self.usage)") }
        let options = arguments.filter { $0.hasPrefix("-") }
        let directories = arguments.filter { !$0.hasPrefix("-") }.map { URL(fileURLWithPath: $0, isDirectory: true) }
        switch (options, directories.first, directories.count) {
        case (["-h"], nil, _), (["--help"], nil, _): task = .help
        case ([], let directory?, 1): task = .list(directory)
        case (["--verify"], let directory?, 1): task = .verify(directory)
        case (["--purge"], let directory?, 1): task = .purge(directory)
        default: throw Wrong(description: "This needs a directory, and at most one option.\n\(Self.usage)")
        }
    }
}
