// A client of an API that wants a token. When the token has expired, one request refreshes it for all loads.
import Foundation
import Synchronizer

struct Account: Decodable {
    let name: String
    let item: Int
}

/// The token of the user: loads read it, and the refresh replaces it.
actor Session {
    private(set) var token = "expired"

    func signed(_ request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        return request
    }

    func refresh(from url: URL) async throws {
        token = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
    }
}

@main
struct TokenClient {
    static func main() async throws {
        guard let base = CommandLine.arguments.dropFirst().first.flatMap(URL.init(string:)) else {
            print("Usage: TokenClient URL-OF-API")
            exit(2)
        }
        let session = Session()
        var configuration = Synchronizer.Configuration(urlCache: nil)
        configuration.prepare = { await session.signed($0) }
        configuration.authenticate = { request, response in
            guard response.statusCode == 401 else { return nil }
            try await session.refresh(from: base.appendingPathComponent("token"))
            return await session.signed(request)
        }
        let synchronizer = Synchronizer(configuration: configuration)

        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for item in 1...10 {
                guard let url = URL(string: "account.json?item=\(item)", relativeTo: base) else { continue }
                group.addTask { try await synchronizer.load(JSONResource<Account>(url: url)).item }
            }
            var count = 0
            while try await group.next() != nil { count += 1 }
            return count
        }
        print("\(count) items")
    }
}
