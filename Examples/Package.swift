// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that users of Synchronizer do not build it, and so that it can use only the public API.
let synchronizer = Target.Dependency.product(name: "Synchronizer", package: "Synchronizer")
let imageResource = Target.Dependency.product(name: "ImageResource", package: "Synchronizer")

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "Synchronizer", path: "..")],
    targets: [
        .systemLibrary(name: "CGtk", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        .target(name: "GTK", dependencies: ["CGtk", imageResource]),
        .target(name: "GalleryModel", dependencies: [synchronizer, imageResource]),
        .executableTarget(name: "Gallery", dependencies: ["GTK", "GalleryModel", synchronizer, imageResource]),
        .testTarget(name: "GalleryModelTests", dependencies: ["GalleryModel"]),

        // A link to the sample site of the tests, which is not a product, and the default site of the gallery.
        .target(
            name: "ScriptedServer", dependencies: [.product(name: "SynchronizerTesting", package: "Synchronizer")],
            resources: [.copy("Photographs")]),
        .executableTarget(name: "GallerySite", dependencies: ["ScriptedServer", imageResource]),
    ],
    swiftLanguageModes: [.v6]
)
