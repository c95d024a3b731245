import CGtk
public import ImageResource

/// A picture as GTK draws it, over the pixels of an image that stay where they are.
@MainActor
public final class Texture {
    /// GDK's object.
    // It never changes, and GLib counts references on any thread.
    nonisolated(unsafe) public let pointer: OpaquePointer

    /// All of an image.
    public convenience init?(_ image: BitmapImage) {
        self.init(image, width: image.width, height: image.height)
    }

    /// The middle of an image: at most so many pixels, without a copy, by the length of its rows.
    ///
    /// A texture that is as large as the place where it is shown is drawn row by row. Any other has to be scaled, with
    /// each frame anew, which takes many times as long.
    public init?(_ image: BitmapImage, width: Int, height: Int) {
        let (width, height) = (min(width, image.width), min(height, image.height))
        let offset = (image.height - height) / 2 * image.bytesPerRow + (image.width - width) / 2 * 4
        let length = (height - 1) * image.bytesPerRow + width * 4
        guard width > 0, height > 0 else { return nil }
        let bytes: OpaquePointer? = image.withUnsafeBytes { pixels in
            guard let base = pixels.baseAddress, offset + length <= pixels.count else { return nil }
            // The image is retained for as long as GDK holds its pixels: `withUnsafeBytes` says that they stay.
            return g_bytes_new_with_free_func(
                base + offset, gsize(length), { data in data.map { Unmanaged<BitmapImage>.fromOpaque($0).release() } },
                Unmanaged.passRetained(image).toOpaque())
        }
        guard let bytes else { return nil }
        defer { g_bytes_unref(bytes) }
        // Where every pixel is opaque the two are the same; but GDK 4.8, drawing with cairo, makes floating-point numbers
        // of each pixel of the one with each frame, and not of the other.
        let format = image.isOpaque ? GDK_MEMORY_B8G8R8A8 : GDK_MEMORY_B8G8R8A8_PREMULTIPLIED
        guard
            let texture = gdk_memory_texture_new(
                Int32(width), Int32(height), format, bytes, gsize(image.bytesPerRow))
        else { return nil }
        pointer = texture
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(pointer))
    }
}
