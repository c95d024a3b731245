// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that who uses Synchronizer neither builds nor sees it, and so that it sees only what is public.
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

        // A link to the server of the tests, which is no product; and the site that the gallery shows by default.
        .target(name: "ScriptedServer", resources: [.copy("Photographs")]),
        .executableTarget(name: "GallerySite", dependencies: ["ScriptedServer", imageResource]),
    ],
    swiftLanguageModes: [.v6]
)
