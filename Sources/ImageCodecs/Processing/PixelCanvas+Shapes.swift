extension PixelCanvas {
    /// Makes the pixels outside of rounded corners transparent. The radius is in pixels.
    package func clip(cornerRadius: Double) throws {
        let shape = RoundedRectangle(in: size, radius: cornerRadius)
        try forEachRow { row, pixels in
            let edge = shape.edge(row: row)
            for column in 0..<edge.inside {
                let share = column < edge.outside ? 0 : shape.coverage(column: column, row: row)
                shape.mirrored(column) { Self.scale(pixels + $0 * 4, by: share) }
            }
        }
    }

    private static func scale(_ pixel: UnsafeMutablePointer<UInt8>, by share: Double) {
        let parts = Int((share * 256).rounded())
        for channel in 0..<4 { pixel[channel] = UInt8((Int(pixel[channel]) * parts + 128) >> 8) }
    }

    /// Draws a line along the edge, inside of the picture.
    /// - Parameters:
    ///   - width: The width of the line, in pixels.
    ///   - cornerRadius: The radius to which the picture's corners have been clipped, in pixels.
    package func drawBorder(_ colour: PixelColor, width: Double, cornerRadius: Double) throws {
        guard width > 0 else { return }
        let width = min(width, Double(max(size.width, size.height)))
        let outer = RoundedRectangle(in: size, radius: cornerRadius)
        let inner = RoundedRectangle(in: size, inset: width, radius: max(0, cornerRadius - width))
        try forEachRow { row, pixels in
            for column in 0..<inner.edge(row: row).inside {
                let share = (1 - inner.coverage(column: column, row: row)) * colour.alpha
                let visible = outer.coverage(column: column, row: row)
                inner.mirrored(column) { Self.mix(colour, visible: visible, into: pixels + $0 * 4, share: share) }
            }
        }
    }

    private static func mix(
        _ colour: PixelColor, visible: Double, into pixel: UnsafeMutablePointer<UInt8>, share: Double
    ) {
        func mix(_ channel: Int, with value: Double) {
            let mixed = Double(pixel[channel]) * (1 - share) + value * visible * share * 255
            pixel[channel] = UInt8(min(mixed.rounded(), 255))
        }
        mix(0, with: colour.blue)
        mix(1, with: colour.green)
        mix(2, with: colour.red)
        mix(3, with: 1)
    }
}
