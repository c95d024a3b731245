// swift-tools-version: 6.2
import PackageDescription

/// Apple's systems bring SQLite and ImageIO; elsewhere the C libraries come from the distribution.
let linuxOnly: TargetDependencyCondition? = .when(platforms: [.linux])

/// The systems on which a program can start another one.
let whereProcessesAre: TargetDependencyCondition? = .when(platforms: [.macOS, .linux])

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

/// The privacy manifest that Apple requires. Other systems need no bundle for it.
#if canImport(Darwin)
    let privacy = (resources: [Resource.process("PrivacyInfo.xcprivacy")], exclude: [String]())
#else
    let privacy = (resources: [Resource](), exclude: ["PrivacyInfo.xcprivacy"])
#endif

/// The decoders for where there is no ImageIO. The manifest asks for the host, because conditions cannot exclude files.
#if os(Linux)
    let systemDecoders = [String]()
#else
    let systemDecoders = ["Bitmap"]
#endif

/// A page of the Playground is a program too, so that it builds and runs where there is no Xcode.
func page(_ name: String, _ title: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Synchronizer", "ImageResource", "ScriptedServer", "SynchronizerTesting"],
        path: "Playground.playground/Pages/\(title).xcplaygroundpage",
        swiftSettings: settings)
}

/// A library for an optional format: needed with the trait of that name, on systems without ImageIO.
func optional(_ library: String, trait: String) -> Target.Dependency {
    .target(name: library, condition: .when(platforms: [.linux], traits: [trait]))
}

let package = Package(
    name: "Synchronizer",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .library(name: "Synchronizer", targets: ["Synchronizer"]),
        .library(name: "SQLiteCache", targets: ["SQLiteCache"]),
        .library(name: "ImageResource", targets: ["ImageResource"]),
        .library(name: "HTTPCaching", targets: ["HTTPCaching"]),
        .library(name: "SynchronizerTesting", targets: ["SynchronizerTesting"]),
        .library(name: "ValkeyCache", targets: ["ValkeyCache"]),
        .executable(name: "synchronizer-cache", targets: ["CacheTool"]),
    ],
    traits: [
        .trait(name: "AVIF", description: "Decode AVIF on Linux, with libavif."),
        .trait(name: "HEIC", description: "Decode HEIC on Linux, with libheif."),
        .trait(name: "JXL", description: "Decode JPEG XL on Linux, with libjxl."),
        .trait(name: "SVG", description: "Draw SVG on Linux, with librsvg: for files that you trust."),
        .trait(name: "Valkey", description: "Share a cache through Valkey or Redis on Linux, with hiredis."),
    ],
    targets: [
        .target(name: "HTTPCaching", swiftSettings: settings),
        // The settings and errors of TLS that Synchronizer and CurlSession share.
        .target(name: "TransportSecurity", swiftSettings: settings),
        // Without dependencies, so that CurlSession and HTTPCaching compile side by side.
        .target(name: "SynchronizerSupport", swiftSettings: settings),
        .target(
            name: "SQLiteCache",
            dependencies: ["HTTPCaching", "SynchronizerSupport", .target(name: "CSQLite", condition: linuxOnly)],
            exclude: privacy.exclude, resources: privacy.resources, swiftSettings: settings),
        // A URLCache that machines share. Without the trait Valkey it has only the rules, which need no server.
        .target(
            name: "ValkeyCache",
            dependencies: [
                "HTTPCaching", "SynchronizerSupport", "SQLiteCache", optional("CHiredis", trait: "Valkey"),
            ],
            swiftSettings: settings),
        .target(
            name: "Synchronizer",
            dependencies: ["HTTPCaching", "TransportSecurity", "SynchronizerSupport", "SQLiteCache"],
            swiftSettings: settings),
        .target(
            name: "ImageResource", dependencies: ["ImageCodecs", "Synchronizer"],
            exclude: privacy.exclude, resources: privacy.resources, swiftSettings: settings),
        // Doubles for the tests of apps, and of this package.
        .target(
            name: "SynchronizerTesting", dependencies: ["Synchronizer", "HTTPCaching"], swiftSettings: settings),
        // Image formats, and on Linux their decoders.
        .target(
            name: "ImageCodecs",
            dependencies: [
                "SynchronizerSupport", "CImageProcessing",
                .target(name: "CCodecs", condition: linuxOnly),
                .target(name: "CWebP", condition: linuxOnly),
                .target(name: "CLCMS", condition: linuxOnly),
                optional("CAVIF", trait: "AVIF"), optional("CHEIF", trait: "HEIC"), optional("CJXL", trait: "JXL"),
                optional("CRSVG", trait: "SVG"),
            ],
            exclude: systemDecoders, swiftSettings: settings),

        // Without `pkgConfig`: SwiftPM would look for all of them, and warn every client of what is not installed. The module
        // maps name what is linked, and `Scripts/lib.sh` what Debian calls the packages.
        .systemLibrary(name: "CSQLite"),
        .systemLibrary(name: "CWebP"),
        .systemLibrary(name: "CLCMS"),
        .systemLibrary(name: "CAVIF"),
        .systemLibrary(name: "CHEIF"),
        .systemLibrary(name: "CJXL"),
        .systemLibrary(name: "CRSVG"),
        .systemLibrary(name: "CHiredis"),
        .target(
            name: "CCodecs",
            linkerSettings: [
                .linkedLibrary("jpeg", .when(platforms: [.linux])), .linkedLibrary("png16", .when(platforms: [.linux])),
            ]),

        // The inner loops of image processing, on every platform.
        .target(name: "CImageProcessing"),

        .executableTarget(
            name: "Demo", dependencies: ["Synchronizer", "ImageResource", "HTTPCaching", "ScriptedServer"],
            swiftSettings: settings),
        // Lists, checks and empties a cache: the product `synchronizer-cache`, and `Scripts/cache`.
        .executableTarget(
            name: "CacheTool", dependencies: ["SQLiteCache", "ValkeyCache", "HTTPCaching"], swiftSettings: settings),
        // Answers the requests of the public cache test suite: `Scripts/conformance`.
        .executableTarget(
            name: "ConformanceAdapter", dependencies: ["Synchronizer", "HTTPCaching", "ValkeyCache"],
            swiftSettings: settings),
        .executableTarget(
            name: "VerdictBenchmark", dependencies: ["HTTPCaching"], path: "Benchmarks/Sources/verdict",
            swiftSettings: settings),

        .target(
            name: "ScriptedServer", dependencies: ["SynchronizerTesting"], path: "Tests/ScriptedServer",
            resources: [.copy("Photographs")], swiftSettings: settings),
        // Servers that misbehave, and what their clients get: the table of Documentation/Linux.md.
        .target(
            name: "HostileServer", dependencies: ["ScriptedServer", "TestSupport"], path: "Tests/HostileServer",
            swiftSettings: settings),
        .target(
            name: "TestSupport",
            dependencies: ["Synchronizer", "HTTPCaching", "ScriptedServer", "SynchronizerTesting"],
            path: "Tests/TestSupport", exclude: ["Certificates"],
            swiftSettings: settings),
        .testTarget(name: "HTTPCachingTests", dependencies: ["HTTPCaching", "TestTraits"], swiftSettings: settings),
        // Not in TestSupport, because StorageChild uses that without Swift Testing.
        .target(name: "TestTraits", path: "Tests/TestTraits", swiftSettings: settings),
        .testTarget(
            name: "ScriptedServerTests", dependencies: ["ScriptedServer", "SynchronizerTesting", "TestTraits"],
            swiftSettings: settings),
        .testTarget(
            name: "SynchronizerTestingTests", dependencies: ["SynchronizerTesting", "TestSupport", "TestTraits"],
            swiftSettings: settings),
        // The processes that the storage tests kill, and that share directories with them.
        .executableTarget(
            name: "StorageChild",
            dependencies: ["SQLiteCache", "ValkeyCache", "Synchronizer", "ImageResource", "TestSupport"],
            path: "Tests/StorageChild",
            swiftSettings: settings),
        // The processes of `Scripts/fleet`.
        .executableTarget(
            name: "FleetMember",
            dependencies: [
                "Synchronizer", "ValkeyCache", "SynchronizerSupport", "SynchronizerTesting", "HTTPCaching",
                "TestSupport",
            ],
            path: "Tests/Fleet", exclude: ["fleet.py", "requests_cache_peer.py"], swiftSettings: settings),
        .testTarget(
            name: "SQLiteCacheTests",
            dependencies: [
                "SQLiteCache", "SynchronizerSupport", "HTTPCaching", "ImageResource", "ScriptedServer", "TestSupport",
                "TestTraits",
                .target(name: "CSQLite", condition: linuxOnly),
                .target(name: "StorageChild", condition: whereProcessesAre),
                .target(name: "CacheTool", condition: whereProcessesAre),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ValkeyCacheTests",
            dependencies: [
                "ValkeyCache", "SQLiteCache", "SynchronizerSupport", "HTTPCaching", "Synchronizer",
                "SynchronizerTesting",
                "TestSupport", "TestTraits",
                .target(name: "StorageChild", condition: whereProcessesAre),
                .target(name: "CacheTool", condition: whereProcessesAre),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SynchronizerTests",
            dependencies: [
                "Synchronizer", "SynchronizerTesting", "HTTPCaching", "TestSupport", "TestTraits", "HostileServer",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ImageResourceTests",
            dependencies: ["ImageCodecs", "ImageResource", "SynchronizerTesting", "TestSupport", "TestTraits"],
            exclude: ["Samples/make_samples.py"], resources: [.copy("Samples")], swiftSettings: settings),

        page("LoadingImages", "Loading Images"),
        page("ProcessingImages", "Processing Images"),
        page("LoadingJSON", "Loading JSON"),
        page("DownloadingFiles", "Downloading Files"),
        page("CancellingOffScreen", "Cancelling Off Screen"),
        page("PrefetchingAndRetrying", "Prefetching and Retrying"),
        page("ViewsAndPublishers", "Views and Publishers"),
        page("YourOwnResource", "Your Own Resource"),
        page("InsideTheCache", "Inside the Cache"),
    ],
    swiftLanguageModes: [.v6]
)

// `CurlSession` and what it links exist on Linux only. The manifest asks for the host, because conditions of dependencies
// would still build the target on a Mac.
#if os(Linux)
    package.products.append(.library(name: "CurlSession", targets: ["CurlSession"]))
    package.targets += [
        .systemLibrary(name: "CCurl"),
        .systemLibrary(name: "CContentCodings"),
        .target(
            name: "CurlSession",
            dependencies: ["CCurl", "CContentCodings", "TransportSecurity", "SynchronizerSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "CurlSessionTests",
            dependencies: [
                "CurlSession", "HTTPCaching", "Synchronizer", "SynchronizerSupport", "ScriptedServer", "HostileServer",
                "TestSupport", "TestTraits", "CSendHook",
            ],
            swiftSettings: settings),
        // Holds up libcurl between what it sends and what it receives.
        .target(name: "CSendHook", path: "Tests/CSendHook"),
        // Loads from hostile servers in a process of its own, whose crashes and memory a test can observe.
        .executableTarget(
            name: "HostileChild", dependencies: ["Synchronizer", "HostileServer", "TestSupport"],
            path: "Tests/HostileChild", swiftSettings: settings),
        // Loads from the real servers that Scripts/interop starts.
        .executableTarget(
            name: "InteropProbe", dependencies: ["Synchronizer", "CurlSession", "ScriptedServer"],
            path: "Tests/Interop", swiftSettings: settings),
    ]
    package.targets.first { $0.name == "SynchronizerTests" }?.dependencies.append("HostileChild")
    package.targets.first { $0.name == "Synchronizer" }?.dependencies.append("CurlSession")
#endif

// A script that needs only some of the tests and programs names their targets here, because the others take minutes to compile.
if let kept = Context.environment["SYNCHRONIZER_ONLY"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { [.test, .executable].contains($0.type) && !kept.contains($0.name) }
    package.products.removeAll { $0.name == "synchronizer-cache" && !kept.contains("CacheTool") }
}
