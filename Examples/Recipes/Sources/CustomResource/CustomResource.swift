// A resource of your own: a table of comma-separated values, whose separator is part of what is loaded.
import Foundation
import Synchronizer

struct Table: Sendable {
    let columns: [String]
    let rows: [[String]]
}

struct TableResource: Resource {
    let url: URL
    var separator: Character = ","

    func request() -> URLRequest {
        var request = URLRequest(url: url)
        request.setValue("text/csv", forHTTPHeaderField: "Accept")
        return request
    }

    /// Two tables of one response with different separators share the download, not the parse.
    var variant: ResourceVariant { ResourceVariant(String(separator)) }

    var parse: @Sendable (Data) throws -> Table {
        { [separator] data in
            var rows: [[String]] = []
            for line in String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline) {
                try ParseCancellation.check()  // a long parse stops when its load is cancelled
                rows.append(line.split(separator: separator, omittingEmptySubsequences: false).map(String.init))
            }
            guard let columns = rows.first else { throw CocoaError(.fileReadCorruptFile) }
            return Table(columns: columns, rows: Array(rows.dropFirst()))
        }
    }

    /// What a table takes in memory, for the limits of the memory cache.
    func cost(of table: Table, size: Int) -> Int { size + table.rows.count * table.columns.count * 16 }
}

@main
struct CustomResource {
    static func main() async throws {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:)) else {
            print("Usage: CustomResource URL-OF-TABLE")
            exit(2)
        }
        let table = try await Synchronizer.shared.load(TableResource(url: url, separator: ";"))
        print(table.columns.joined(separator: " | "))
        for row in table.rows { print(row.joined(separator: " | ")) }
    }
}
