/// The picture while it is being assembled. Rows arrive in stored order and are put where they belong in the upright picture.
struct UprightCanvas {
    let buffer: PixelBuffer
    let stored: PixelSize
    let orientation: ImageOrientation

    init(stored: PixelSize, orientation: ImageOrientation, cleared: Bool) throws {
        self.stored = stored
        self.orientation = orientation
        buffer = try PixelBuffer(orientation.upright(stored), cleared: cleared)
    }

    /// Puts `count` rows, beginning with number `first`. Several rows at a time fill cache lines better than one.
    func put(_ rows: UnsafeRawPointer, stride: Int, first: Int, count: Int) {
        let rightward = orientation.swapsAxes ? buffer.size.width : 1
        let downward = orientation.swapsAxes ? 1 : buffer.size.width
        let stepX = orientation.reversesX ? -rightward : rightward
        let stepY = orientation.reversesY ? -downward : downward
        let originX = orientation.reversesX ? (stored.width - 1) * rightward : 0
        let originY = orientation.reversesY ? (stored.height - 1) * downward : 0
        let pixels = buffer.base.assumingMemoryBound(to: UInt32.self) + originX + originY + first * stepY
        for x in 0..<stored.width {
            let column = pixels + x * stepX
            for y in 0..<count {
                column[y * stepY] = rows.load(fromByteOffset: y * stride + x * 4, as: UInt32.self)
            }
        }
    }
}
