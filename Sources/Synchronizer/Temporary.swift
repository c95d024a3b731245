import Foundation
import HTTPCaching
final class SQLiteURLCache: URLCache, @unchecked Sendable {
    init(memoryCapacity: Int, diskCapacity: Int) { super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil) }
}
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
func URLCacheStore(_ c: URLCache) -> any ResponseStore { fatalError() }
enum Redirect { static func request(from: URLRequest, to: HTTPURLResponse) -> URLRequest? { nil } }
enum HTTPDate { static func parse(_ t: String, at: Date) -> Date? { nil } }
