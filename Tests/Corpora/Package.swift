// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The traits are chosen when it is built: `Scripts/check-corpora`.
let traits = (ProcessInfo.processInfo.environment["CORPORA_TRAITS"] ?? "").split(separator: ",").map(String.init)

let package = Package(
    name: "Corpora",
    dependencies: [.package(name: "Synchronizer", path: "../..", traits: Set(traits.map { .init(name: $0) }))],
    targets: [
        .executableTarget(name: "Decode", dependencies: [.product(name: "ImageResource", package: "Synchronizer")])
    ])
