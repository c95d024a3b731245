import Foundation
import ImageResource
import ScriptedServer

/// A picture of the album: a photograph of the sample site, or a part of one, so that a few photographs fill an album.
struct Detail {
    let name: String
    let title: String
    let credit: String
    let alternativeText: String
    let width: Int
    let height: Int
    let jpeg: Data

    /// All pictures, in an order that separates the parts of a photograph.
    static func all() throws -> [Detail] {
        let photographs = try SamplePhotograph.all()
        let details = photographs.map { photograph -> [Detail] in
            guard let image = BitmapImage(data: photograph.data) else { return [] }
            let parts = Part.all.filter { $0.photograph == photograph.file }
            return [Detail(photograph, image: image)].compactMap(\.self)
                + parts.compactMap { Detail($0, of: photograph, image: image) }
        }
        let most = details.map(\.count).max() ?? 0
        return (0..<most).flatMap { number in
            details.compactMap { $0.isEmpty ? nil : $0[number % $0.count] }
        }
    }

    /// Enlarged photographs of the sample site.
    ///
    /// - Parameter most: the largest number of photographs.
    static func enlarged(_ enlargement: Enlargement, most: Int = .max) throws -> [Detail] {
        try SamplePhotograph.all().prefix(most).compactMap { photograph in
            BitmapImage(data: photograph.data).flatMap(enlargement.of).flatMap {
                Detail(photograph, image: $0, enlargement: enlargement)
            }
        }
    }

    private init?(_ photograph: SamplePhotograph, image: BitmapImage, enlargement: Enlargement? = nil) {
        let size = enlargement.map { "-\($0.width)" } ?? ""
        self.init(
            name: "\(photograph.file.prefix { $0 != "." })\(size)", title: photograph.title, credit: photograph.credit,
            text: photograph.alternativeText, image: image, quality: enlargement?.quality ?? 0.92)
    }

    private init?(_ part: Part, of photograph: SamplePhotograph, image: BitmapImage) {
        guard let image = image.cropped(x: part.x, y: part.y, width: part.width, height: part.height) else {
            return nil
        }
        let name = part.title.lowercased().filter { $0.isASCII && $0.isLetter || $0.isNumber }
        self.init(
            name: name, title: part.title, credit: photograph.credit, text: part.alternativeText, image: image)
    }

    private init?(
        name: String, title: String, credit: String, text: String, image: BitmapImage, quality: Double = 0.92
    ) {
        guard let jpeg = image.jpegData(compressionQuality: quality) else { return nil }
        self.name = name
        self.title = title
        self.credit = credit
        alternativeText = text
        width = image.width
        height = image.height
        self.jpeg = jpeg
    }
}

/// A part of a photograph that makes a good picture, in pixels.
private struct Part {
    let photograph: String
    let x, y, width, height: Int
    let title: String
    let alternativeText: String

    init(of photograph: String, x: Int, y: Int, width: Int, height: Int, title: String, text: String) {
        self.photograph = photograph
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
        self.title = title
        alternativeText = text
    }

    static let all = [
        Part(
            of: "chelsea.png", x: 100, y: 30, width: 300, height: 225, title: "Watching",
            text: "The face of a ginger cat, close"),
        Part(
            of: "chelsea.png", x: 20, y: 0, width: 431, height: 240, title: "Ears",
            text: "The ears and the forehead of a ginger cat"),
        Part(
            of: "rocket.jpg", x: 180, y: 60, width: 400, height: 300, title: "At the tower",
            text: "A rocket beside its tower"),
        Part(
            of: "rocket.jpg", x: 0, y: 120, width: 320, height: 240, title: "Dusk",
            text: "The evening sky beside a launch pad"),
        Part(
            of: "rocket.jpg", x: 240, y: 0, width: 300, height: 225, title: "Nose cone",
            text: "The tip of a rocket between lightning masts"),
        Part(
            of: "coffee.png", x: 130, y: 60, width: 400, height: 300, title: "Crema",
            text: "Espresso in a white cup, from above"),
        Part(
            of: "coffee.png", x: 300, y: 130, width: 300, height: 225, title: "Saucer",
            text: "The rim of a saucer on a wooden table"),
        Part(
            of: "coffee.png", x: 0, y: 0, width: 320, height: 240, title: "Table", text: "The grain of a wooden table"),
        Part(
            of: "hubble_deep_field.jpg", x: 40, y: 30, width: 440, height: 330, title: "Spirals",
            text: "Spiral galaxies among fainter ones"),
        Part(
            of: "hubble_deep_field.jpg", x: 520, y: 60, width: 440, height: 330, title: "Far away",
            text: "Galaxies like grains of sand"),
        Part(
            of: "hubble_deep_field.jpg", x: 60, y: 480, width: 440, height: 330, title: "Deep Field, south",
            text: "Galaxies in a black sky"),
        Part(
            of: "hubble_deep_field.jpg", x: 500, y: 500, width: 440, height: 330, title: "Redshift",
            text: "Red and blue specks of light"),
        Part(
            of: "hubble_deep_field.jpg", x: 300, y: 270, width: 360, height: 270, title: "Deep Field, centre",
            text: "A bright galaxy in the middle"),
        Part(
            of: "astronaut.png", x: 110, y: 0, width: 300, height: 225, title: "Commander", text: "An astronaut smiles"),
        Part(
            of: "astronaut.png", x: 256, y: 20, width: 256, height: 192, title: "Orbiter",
            text: "A model of a space shuttle behind a shoulder"),
        Part(
            of: "astronaut.png", x: 60, y: 260, width: 320, height: 240, title: "Orange suit",
            text: "The front of a pressure suit, with patches"),
        Part(
            of: "retina.jpg", x: 240, y: 300, width: 640, height: 480, title: "Vessels",
            text: "Vessels that branch over the back of an eye"),
        Part(
            of: "retina.jpg", x: 640, y: 420, width: 480, height: 360, title: "Optic disc",
            text: "The place where the nerve leaves the eye"),
    ]
}
