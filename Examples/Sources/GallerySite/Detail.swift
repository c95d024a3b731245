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
            return [Detail(photograph, image)].compactMap(\.self) + parts.compactMap { Detail($0, photograph, image) }
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
                Detail(photograph, $0, enlargement)
            }
        }
    }

    private init?(_ photograph: SamplePhotograph, _ image: BitmapImage, _ enlargement: Enlargement? = nil) {
        let size = enlargement.map { "-\($0.width)" } ?? ""
        self.init(
            "\(photograph.file.prefix { $0 != "." })\(size)", photograph.title, photograph.credit,
            photograph.alternativeText,
            image, enlargement?.quality ?? 0.92)
    }

    private init?(_ part: Part, _ photograph: SamplePhotograph, _ image: BitmapImage) {
        guard let image = image.cropped(x: part.x, y: part.y, width: part.width, height: part.height) else {
            return nil
        }
        let name = part.title.lowercased().filter { $0.isASCII && $0.isLetter || $0.isNumber }
        self.init(name, part.title, photograph.credit, part.alternativeText, image)
    }

    private init?(
        _ name: String, _ title: String, _ credit: String, _ text: String, _ image: BitmapImage,
        _ quality: Double = 0.92
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

    init(_ photograph: String, _ x: Int, _ y: Int, _ width: Int, _ height: Int, _ title: String, _ text: String) {
        self.photograph = photograph
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
        self.title = title
        alternativeText = text
    }

    static let all = [
        Part("chelsea.png", 100, 30, 300, 225, "Watching", "The face of a ginger cat, close"),
        Part("chelsea.png", 20, 0, 431, 240, "Ears", "The ears and the forehead of a ginger cat"),
        Part("rocket.jpg", 180, 60, 400, 300, "At the tower", "A rocket beside its tower"),
        Part("rocket.jpg", 0, 120, 320, 240, "Dusk", "The evening sky beside a launch pad"),
        Part("rocket.jpg", 240, 0, 300, 225, "Nose cone", "The tip of a rocket between lightning masts"),
        Part("coffee.png", 130, 60, 400, 300, "Crema", "Espresso in a white cup, from above"),
        Part("coffee.png", 300, 130, 300, 225, "Saucer", "The rim of a saucer on a wooden table"),
        Part("coffee.png", 0, 0, 320, 240, "Table", "The grain of a wooden table"),
        Part("hubble_deep_field.jpg", 40, 30, 440, 330, "Spirals", "Spiral galaxies among fainter ones"),
        Part("hubble_deep_field.jpg", 520, 60, 440, 330, "Far away", "Galaxies like grains of sand"),
        Part("hubble_deep_field.jpg", 60, 480, 440, 330, "Deep Field, south", "Galaxies in a black sky"),
        Part("hubble_deep_field.jpg", 500, 500, 440, 330, "Redshift", "Red and blue specks of light"),
        Part("hubble_deep_field.jpg", 300, 270, 360, 270, "Deep Field, centre", "A bright galaxy in the middle"),
        Part("astronaut.png", 110, 0, 300, 225, "Commander", "An astronaut smiles"),
        Part("astronaut.png", 256, 20, 256, 192, "Orbiter", "A model of a space shuttle behind a shoulder"),
        Part("astronaut.png", 60, 260, 320, 240, "Orange suit", "The front of a pressure suit, with patches"),
        Part("retina.jpg", 240, 300, 640, 480, "Vessels", "Vessels that branch over the back of an eye"),
        Part("retina.jpg", 640, 420, 480, 360, "Optic disc", "The place where the nerve leaves the eye"),
    ]
}
