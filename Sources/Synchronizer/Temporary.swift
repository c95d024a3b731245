import Foundation
import HTTPCaching
struct NoFetch: Fetching {
    func fetch(_ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void)
        -> any Fetch
    { fatalError() }
    func removeStored(for request: URLRequest) {}
    func removeAllStored() {}
}
func NativeFetcher(transport: URLSessionTransport, time: any TimeSource) -> any Fetching { NoFetch() }
func ManagedFetcher(transport: URLSessionTransport, store: (any ResponseStore)?, time: any TimeSource) -> any Fetching {
    NoFetch()
}
enum Redirect { static func request(from: URLRequest, to: HTTPURLResponse) -> URLRequest? { nil } }
