// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as it needs flags that no other build has: see Scripts/fuzz.
let package = Package(
    name: "Fuzzing",
    dependencies: [.package(name: "Synchronizer", path: "../..")],
    targets: [
        .target(name: "CFuzzer"),
        .executableTarget(
            name: "Fuzzing",
            dependencies: ["CFuzzer", .product(name: "ImageResource", package: "Synchronizer")]),
    ]
)
