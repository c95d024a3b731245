import Foundation
import Measuring

/// nginx, which costs less than any of those that load from it.
final class NginxServer {
    static let bodySize = 20_480
    static let largeSize = 256 << 20

    private let process = Process()
    /// nginx ends when this is closed: with this process, however that ends.
    private let lifeline = Pipe()
    private let scratch: Scratch
    let plain: String
    let secure: String
    /// The certificate of the secure server, which is its own authority.
    let authority: String

    init() throws {
        scratch = try Scratch()
        let place = try scratch.path("nginx")
        let ports = (Int.random(in: 20_000..<26_000), Int.random(in: 26_000..<32_000))
        (plain, secure) = ("http://127.0.0.1:\(ports.0)", "https://127.0.0.1:\(ports.1)")
        authority = "\(place)/certificate"
        let body = Data((0..<Self.bodySize).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try body.write(to: URL(fileURLWithPath: "\(place)/body"))
        guard FileManager.default.createFile(atPath: "\(place)/large", contents: nil),
            truncate("\(place)/large", Self.largeSize) == 0
        else { throw BenchmarkError("large: \(errno)") }
        try Self.run([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1", "-keyout", "\(place)/key", "-out", authority,
        ])
        try Self.configuration(place, ports).write(toFile: "\(place)/conf", atomically: true, encoding: .utf8)
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // SIGKILL: nginx inherits the signals that this thread blocks, SIGTERM among them on threads of dispatch.
        process.arguments = ["-c", #"/usr/sbin/nginx "$@" & read -r _; kill -KILL $!; wait"#, "sh"]
        process.arguments? += ["-c", "\(place)/conf", "-p", place, "-e", "stderr"]
        process.standardInput = lifeline
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        for _ in 0..<500 {
            if let pid = try? Data(contentsOf: URL(fileURLWithPath: "\(place)/pid")), !pid.isEmpty { return }
            usleep(20_000)
        }
        throw BenchmarkError("nginx does not start")
    }

    /// A server that runs already, for a profiler that cannot start one.
    init(at origin: String) throws {
        scratch = try Scratch()
        (plain, secure, authority) = (origin, origin, "")
    }

    deinit {
        guard process.isRunning else { return }
        try? lifeline.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Runs a program, and returns what it prints.
    @discardableResult
    static func run(_ arguments: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError("\(arguments[0]) failed") }
        return String(decoding: printed, as: UTF8.self)
    }

    private static func configuration(_ place: String, _ ports: (Int, Int)) -> String {
        let locations = """
            root \(place);
            location /fresh/ { rewrite ^ /body break; add_header Cache-Control max-age=3600; }
            location /check/ { rewrite ^ /body break; add_header Cache-Control no-cache; }
            location /slow/ { rewrite ^ /body break; limit_rate 2k; }
            """
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(place)/\($0);" }
        return """
            daemon off;
            master_process off;
            pid \(place)/pid;
            worker_rlimit_nofile 20000;
            events { worker_connections 12000; }
            http {
                access_log off;
                sendfile on;
                keepalive_requests 1000000;
                \(temporary.joined(separator: "\n"))
                server { listen 127.0.0.1:\(ports.0) backlog=8192; \(locations) }
                server {
                    listen 127.0.0.1:\(ports.1) ssl http2;
                    ssl_certificate \(place)/certificate;
                    ssl_certificate_key \(place)/key;
                    http2_max_concurrent_streams 128;
                    \(locations)
                }
            }
            """
    }
}
