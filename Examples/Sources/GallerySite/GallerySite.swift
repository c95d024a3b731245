import Foundation
import ScriptedServer

/// The default site of the gallery. It is a separate process, so its cost is not part of the gallery's.
///
///     GallerySite [--port N]
///
/// It prints its port, and then answers commands, one per line (see ``Commands``). It ends when its input ends.
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

    /// Prints without buffering, unlike `print` into a pipe.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
