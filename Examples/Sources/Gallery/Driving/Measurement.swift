import Foundation

@MainActor
struct Measurement {
    let program: Program
    func run() async throws {}
}
