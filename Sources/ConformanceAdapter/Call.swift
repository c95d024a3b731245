import Foundation
import HTTPCaching
import Synchronizer

/// One request of the suite.
struct Call: Sendable, Decodable {
    let id: Int
    let url: URL
    let method: String
    let headers: [[String]]
    let body: String?
    let cache: String?

    init?(_ line: String) {
        guard let call = try? JSONDecoder().decode(Call.self, from: Data(line.utf8)) else { return nil }
        self = call
    }

    /// The synchronizer's result in the adapter protocol. Responses with a status outside 200–299 or an empty body are errors to
    /// callers of a synchronizer, but the error contains the response.
    func answer(from synchronizer: Synchronizer, errorsAs504: Bool) async -> [String: any Sendable] {
        do {
            let loaded = try await synchronizer.loaded(DataResource(request: request))
            return answer(loaded.response, body: loaded.object)
        } catch let error as SynchronizerError {
            guard let response = error.context.response else {
                return errorsAs504 ? ["id": id, "status": 504, "headers": [[String]](), "body": ""] : failure(error)
            }
            return answer(response, body: error.context.body ?? Data())
        } catch {
            return failure(error)
        }
    }

    private var request: URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        request.cachePolicy = policy
        for pair in headers where pair.count == 2 { request.addValue(pair[1], forHTTPHeaderField: pair[0]) }
        if cache == "no-store" { request.addValue("no-store", forHTTPHeaderField: FieldName.cacheControl) }
        return request
    }

    /// The Fetch standard's request cache modes as Foundation's cache policies.
    private var policy: URLRequest.CachePolicy {
        switch cache {
        case "no-store": return .reloadIgnoringLocalCacheData
        case "reload": return .reloadIgnoringLocalAndRemoteCacheData
        case "no-cache": return .reloadRevalidatingCacheData
        case "force-cache": return .returnCacheDataElseLoad
        case "only-if-cached": return .returnCacheDataDontLoad
        default: return .useProtocolCachePolicy
        }
    }

    private func answer(_ response: URLResponse, body: Data) -> [String: any Sendable] {
        guard let response = response as? HTTPURLResponse else { return ["id": id, "error": "no HTTP response"] }
        let headers = response.allHeaderFields.compactMap { name, value -> [String]? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return [name, value]
        }
        let answer: [String: any Sendable] = ["id": id, "status": response.statusCode, "headers": headers]
        if let text = String(data: body, encoding: .utf8) { return answer.merging(["body": text]) { $1 } }
        return answer.merging(["body64": body.base64EncodedString()]) { $1 }
    }

    private func failure(_ error: any Error) -> [String: any Sendable] {
        ["id": id, "error": "\(error)"]
    }
}
