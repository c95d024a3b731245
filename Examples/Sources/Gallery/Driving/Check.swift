import Foundation

@MainActor
struct Check {
    let program: Program
    func run() async throws {}
}
