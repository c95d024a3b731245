// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The traits to build with, of whose formats there are targets then: `FUZZ_TRAITS=AVIF,SVG`.
let traits = (ProcessInfo.processInfo.environment["FUZZ_TRAITS"] ?? "").split(separator: ",").map(String.init)

// A package of its own, as it needs flags that no other build has: see Scripts/fuzz.
let package = Package(
    name: "Fuzzing",
    dependencies: [
        .package(name: "Synchronizer", path: "../..", traits: Set(traits.map { .init(stringLiteral: $0) }))
    ],
    targets: [
        .target(name: "CFuzzer"),
        .executableTarget(
            name: "Fuzzing",
            dependencies: [
                "CFuzzer", .product(name: "ImageResource", package: "Synchronizer"),
                .product(name: "CurlSession", package: "Synchronizer"),
            ]),
    ]
)
