// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that who uses Synchronizer neither builds nor sees it.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v12)],
    dependencies: [.package(name: "Synchronizer", path: "..")],
    targets: [
        .target(name: "Yardsticks", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "bench",
            dependencies: [.product(name: "Synchronizer", package: "Synchronizer"), "Yardsticks"]),
    ],
    swiftLanguageModes: [.v6]
)
