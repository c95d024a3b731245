import Foundation
import Synchronizer

/// A single load, whose ending the list names.
struct LoadCheck {
    private let load: LoadList.Load
    private let list: LoadList
    private let client: Client

    init(_ load: LoadList.Load, _ list: LoadList) throws {
        (self.load, self.list) = (load, list)
        client = try Client(load.options, list)
    }

    func run() async throws {
        let ending = await ending()
        guard ending == load.expectation else { throw Unexpected("expected \(load.expectation)", ending) }
    }

    /// The name of the file that came, a status, or the name of an error.
    private func ending() async -> String {
        do {
            let data = try await client.synchronizer.load(DataResource(url: load.url))
            let files = (try? FileManager.default.contentsOfDirectory(atPath: list.content.path)) ?? []
            let name = files.first {
                $0 != "large.bin" && (try? Data(contentsOf: list.content.appendingPathComponent($0))) == data
            }
            return name ?? "\(data.count) bytes"
        } catch let error as SynchronizerError {
            if case .status(let response, _) = error { return "\(response.statusCode)" }
            guard let error = error.underlyingError as? URLError else { return "\(error)" }
            return Self.names[error.code] ?? "\(error.code.rawValue)"
        } catch {
            return "\(error)"
        }
    }

    private static let names: [URLError.Code: String] = [
        .serverCertificateHasBadDate: "serverCertificateHasBadDate",
        .serverCertificateNotYetValid: "serverCertificateNotYetValid",
        .serverCertificateUntrusted: "serverCertificateUntrusted",
        .serverCertificateHasUnknownRoot: "serverCertificateHasUnknownRoot",
        .secureConnectionFailed: "secureConnectionFailed", .clientCertificateRequired: "clientCertificateRequired",
        .clientCertificateRejected: "clientCertificateRejected",
    ]
}
