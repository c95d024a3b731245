// A command-line tool: prints what is at a URL, and on standard error where it came from and why.
import Foundation
import Synchronizer

@main
struct Fetch {
    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isFresh = arguments.first == "--fresh"
        if isFresh { arguments.removeFirst() }
        guard arguments.count == 1, let url = URL(string: arguments[0]) else {
            fail("Usage: Fetch [--fresh] URL", status: 2)
        }
        var request = URLRequest(url: url)
        if isFresh { request.cachePolicy = .reloadRevalidatingCacheData }
        do {
            let loaded = try await Synchronizer.shared.loaded(DataResource(request: request))
            FileHandle.standardOutput.write(loaded.object)
            FileHandle.standardError.write(Data("\(loaded.trace)\n".utf8))
        } catch SynchronizerError.status(let response, let context) {
            FileHandle.standardOutput.write(context.body ?? Data())
            fail("The server answered \(response.statusCode).", status: 1)
        } catch {
            fail("\(error)", status: 1)
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(status)
    }
}
