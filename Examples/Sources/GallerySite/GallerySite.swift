import Foundation
import ScriptedServer

/// The site that the gallery shows by default, in a process of its own: what it costs is not counted as the gallery's.
///
///     GallerySite [--port N]
///
/// It prints its port, then answers commands, one a line, each with a line (see ``Commands``). It ends with its input.
@main
enum GallerySite {
    static func main() throws {
        let arguments = CommandLine.arguments
        let wanted = arguments.firstIndex(of: "--port").flatMap { arguments.dropFirst($0 + 1).first }.flatMap(
            UInt16.init)
        let site = try SampleSite(port: wanted ?? 0)
        try Album(name: "gallery", details: Detail.all()).open(on: site.server)
        site.server.keepRequests(atMost: 1)
        say("\(site.server.port)")
        let commands = Commands(server: site.server)
        while let line = readLine() { say(commands.answer(to: line)) }
        site.stop()
    }

    /// At once, which `print` into a pipe would not be.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
