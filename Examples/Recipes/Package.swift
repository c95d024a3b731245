// swift-tools-version: 6.1
import PackageDescription

// A package of its own, which uses only the public API. `Scripts/recipes` builds it, runs its programs and checks what they
// print. The documents quote them.
let synchronizer = Target.Dependency.product(name: "Synchronizer", package: "Synchronizer")
let images = Target.Dependency.product(name: "ImageResource", package: "Synchronizer")
let testing = Target.Dependency.product(name: "SynchronizerTesting", package: "Synchronizer")

let package = Package(
    name: "Recipes",
    platforms: [.macOS(.v12)],
    dependencies: [.package(name: "Synchronizer", path: "../..")],
    targets: [
        .executableTarget(name: "ThumbnailList", dependencies: [synchronizer, images]),
        .executableTarget(name: "TokenClient", dependencies: [synchronizer]),
        .executableTarget(name: "OfflineReader", dependencies: [synchronizer]),
        .executableTarget(name: "Downloader", dependencies: [synchronizer]),
        .executableTarget(name: "ServerSideClient", dependencies: [synchronizer]),
        .executableTarget(name: "Fetch", dependencies: [synchronizer]),
        .executableTarget(name: "CustomResource", dependencies: [synchronizer]),
        .executableTarget(name: "InspectCache", dependencies: [synchronizer]),
        .target(name: "PhotoView", dependencies: [synchronizer, images, testing]),
        .target(name: "Headlines", dependencies: [synchronizer]),
        .testTarget(name: "HeadlinesTests", dependencies: ["Headlines", synchronizer, testing]),

        // What the programs load from.
        .executableTarget(name: "RecipeServer", dependencies: [testing]),
    ],
    swiftLanguageModes: [.v6]
)
