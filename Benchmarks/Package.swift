// swift-tools-version: 6.1
import PackageDescription

let synchronizer = Target.Dependency.product(name: "Synchronizer", package: "Synchronizer")

// A package of its own, so that who uses Synchronizer neither builds nor sees it.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v12)],
    dependencies: [.package(name: "Synchronizer", path: "..")],
    targets: [
        // Rows, comparisons in turns, the table and the list: what the three programs share.
        .target(name: "Measuring"),
        .executableTarget(name: "bench-storage", dependencies: ["Measuring", "Yardsticks", synchronizer]),
        .executableTarget(
            name: "bench-loading", dependencies: ["Measuring", "Counting", "ScriptedServer", synchronizer]),
        .executableTarget(
            name: "bench-images",
            dependencies: [
                "Measuring", "ImageYardsticks", "Yardsticks", "ScriptedServer", synchronizer,
                .product(name: "ImageResource", package: "Synchronizer"),
            ]),
        .target(name: "Yardsticks", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "ImageYardsticks", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "Counting"),
        // A link to the sample site of the tests, which is no product.
        .target(
            name: "ScriptedServer", dependencies: [.product(name: "SynchronizerTesting", package: "Synchronizer")],
            resources: [.copy("Photographs")]),
    ],
    swiftLanguageModes: [.v6]
)
