/// A rectangle with rounded corners inside a picture, and how much of each pixel it covers.
struct RoundedRectangle {
    private let size: PixelSize
    private let inset: Double
    private let radius: Double

    /// - Parameters:
    ///   - size: The size of the picture.
    ///   - inset: The distance from the edges of the picture, in pixels.
    ///   - radius: The radius of the corners, at most half of the shorter side.
    init(in size: PixelSize, inset: Double = 0, radius: Double) {
        self.size = size
        self.inset = inset
        self.radius = min(max(radius, 0), max(Double(min(size.width, size.height)) / 2 - inset, 0))
    }

    /// The number of columns up to the middle. Rows are symmetric.
    private var half: Int { (size.width + 1) / 2 }

    /// The distance of a pixel's centre from the nearer of two opposite edges of the rectangle; negative outside.
    private func depth(_ index: Int, of count: Int) -> Double {
        Double(min(index, count - 1 - index)) + 0.5 - inset
    }

    /// The part of a row or column that lies between two opposite edges.
    private func share(_ index: Int, of count: Int) -> Double {
        max(0, min(Double(index + 1), Double(count) - inset) - max(Double(index), inset))
    }

    /// Whether a pixel may have parts of two corners.
    private var isThin: Bool { Double(min(size.width, size.height)) - 2 * inset < 2 }

    /// Whether the area of pixels in corners is measured: if a pixel may have parts of two corners, or most of one.
    private var isMeasured: Bool { radius > 0 && (isThin || radius < 1) }

    /// The part of a pixel that is inside, from 0 to 1. In corners it is computed from the distance between the pixel's centre
    /// and the edge, which differs little from the true area.
    func coverage(column: Int, row: Int) -> Double {
        let (x, y) = (depth(column, of: size.width), depth(row, of: size.height))
        if isMeasured, x < radius + 0.5, y < radius + 0.5 { return area(column: column, row: row) }
        guard radius > 0, x < radius, y < radius else {
            return share(column, of: size.width) * share(row, of: size.height)
        }
        let distance = radius - ((radius - x) * (radius - x) + (radius - y) * (radius - y)).squareRoot()
        return (distance + 0.5).inUnit
    }

    /// The part of a pixel that is inside, measured along lines through the pixel.
    private func area(column: Int, row: Int) -> Double {
        let lines = 32
        return (0..<lines).reduce(0) { sum, line in
            let y = Double(row) + (Double(line) + 0.5) / Double(lines)
            let depth = min(y, Double(size.height) - y) - inset
            guard depth >= 0 else { return sum }
            let rise = max(0, radius - depth)
            let start = inset + radius - (radius * radius - rise * rise).squareRoot()
            let (left, right) = (max(start, Double(column)), min(Double(size.width) - start, Double(column + 1)))
            return sum + max(0, right - left) / Double(lines)
        }
    }

    /// Looks at a row up to the middle. All columns before `outside` are completely outside, and all from `inside` on are
    /// completely inside.
    func edge(row: Int) -> (outside: Int, inside: Int) {
        let depth = depth(row, of: size.height)
        guard depth >= 0.5, !isThin || depth >= radius + 0.5 else { return (0, half) }
        guard depth < radius else { return (0, columns(inset.rounded(.up))) }
        func column(_ radius: Double) -> Double {
            let rise = self.radius - depth
            return inset + self.radius - (radius * radius - rise * rise).squareRoot() - 0.5
        }
        return (columns(column(radius + 0.5).rounded(.down)), columns(column(radius - 0.5).rounded(.up)))
    }

    private func columns(_ count: Double) -> Int { min(max(Int(count), 0), half) }

    /// Calls `body` with a column and with its mirror image. Calls it only once for the column in the middle.
    func mirrored(_ column: Int, _ body: (Int) -> Void) {
        body(column)
        if size.width - 1 - column != column { body(size.width - 1 - column) }
    }
}
