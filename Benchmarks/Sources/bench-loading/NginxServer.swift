import Foundation
import Measuring

/// nginx, which costs less than any of those that load from it.
final class NginxServer {
    static let bodySize = 20_480
    static let largeSize = 256 << 20

    private let process = Process()
    private let scratch: Scratch
    let plain: String
    let secure: String
    /// The certificate of the secure server, which is its own authority.
    let authority: String

    init() throws {
        scratch = try Scratch()
        let place = try scratch.path("nginx")
        let ports = (Int.random(in: 20_000..<30_000), Int.random(in: 30_000..<40_000))
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
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
        process.arguments = ["-c", "\(place)/conf", "-p", place, "-e", "stderr"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        for _ in 0..<100 where (try? Data(contentsOf: URL(fileURLWithPath: "\(place)/pid")))?.isEmpty ?? true {
            usleep(20_000)
        }
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    static func run(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError("\(arguments[0]) failed") }
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
