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
        .target(name: "Counting"),
        // A link to the server of the tests, which is no product.
        .target(name: "ScriptedServer", resources: [.copy("Photographs")]),
        .executableTarget(
            name: "bench-loading",
            dependencies: [.product(name: "Synchronizer", package: "Synchronizer"), "Counting", "ScriptedServer"]),
    ],
    swiftLanguageModes: [.v6]
)
