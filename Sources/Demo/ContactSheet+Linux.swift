#if !canImport(ImageIO)
    import Foundation
    import ImageResource

    extension ContactSheet {
        /// The picture; nil if there is no image.
        func png() -> Data? {
            guard !images.isEmpty else { return nil }
            let sheet = BitmapImage(width: width, height: height, isOpaque: true) { pixels in
                pixels.initializeMemory(as: UInt8.self, repeating: 0xFF)
                for (index, image) in images.enumerated() { draw(image, at: corner(of: index), on: pixels) }
            }
            return sheet?.pngData()
        }

        /// Copies the middle of an image into its square. All images are opaque.
        private func draw(_ image: BitmapImage, at corner: (x: Int, y: Int), on sheet: UnsafeMutableRawBufferPointer) {
            let (across, down) = (min(Self.side, image.width), min(Self.side, image.height))
            let (left, top) = ((image.width - across) / 2, (image.height - down) / 2)
            let place = (x: corner.x + (Self.side - across) / 2, y: corner.y + (Self.side - down) / 2)
            image.withUnsafeBytes { bytes in
                for row in 0..<down {
                    let from = (top + row) * image.bytesPerRow + left * 4
                    let to = ((place.y + row) * width + place.x) * 4
                    let source = UnsafeRawBufferPointer(rebasing: bytes[from..<from + across * 4])
                    UnsafeMutableRawBufferPointer(rebasing: sheet[to..<to + across * 4]).copyMemory(from: source)
                }
            }
        }
    }
#endif
