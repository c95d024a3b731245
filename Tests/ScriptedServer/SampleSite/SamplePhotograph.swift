import Foundation

/// One of the photographs that come with the server; `Photographs/SOURCES.md` says where they are from.
public struct SamplePhotograph: Sendable {
    /// The name of its file, such as `coffee.png`.
    public let file: String
    /// The title.
    public let title: String
    /// The author.
    public let credit: String
    /// A description of what it shows.
    public let alternativeText: String
    /// Pixels.
    public let width: Int
    /// Pixels.
    public let height: Int
    /// The file's bytes.
    public let data: Data

    /// Its media type.
    public var contentType: String { file.hasSuffix(".png") ? "image/png" : "image/jpeg" }

    /// All of them, read from the module's resources.
    public static func all() throws -> [SamplePhotograph] {
        try catalogue.map { file, title, credit, text, width, height in
            let url = Bundle.module.bundleURL.appendingPathComponent("Photographs").appendingPathComponent(file)
            return SamplePhotograph(
                file: file, title: title, credit: credit, alternativeText: text, width: width, height: height,
                data: try Data(contentsOf: url))
        }
    }

    private static let catalogue = [
        ("chelsea.png", "Chelsea", "Stéfan van der Walt, CC0", "A ginger cat looks past the camera", 451, 300),
        ("rocket.jpg", "Before the launch", "SpaceX, CC0", "A rocket stands on its pad at dusk", 640, 427),
        ("coffee.png", "Espresso", "Rachel Michetti, CC0", "A cup of espresso on a wooden table", 600, 400),
        (
            "hubble_deep_field.jpg", "Extreme Deep Field", "NASA, ESA", "Thousands of galaxies in a black sky", 1000,
            872
        ),
        ("astronaut.png", "Eileen Collins", "NASA", "An astronaut in an orange suit smiles", 512, 512),
        ("retina.jpg", "Fundus", "Mikael Häggström, CC0", "The back of an eye with its vessels", 1411, 1411),
    ]
}
