import CGtk
public import ImageResource

/// A GTK texture over the pixels of an image, without a copy.
@MainActor
public final class Texture {
    /// The GDK object.
    // The object is immutable, and GLib counts references on any thread.
    nonisolated(unsafe) public let pointer: OpaquePointer

    /// A texture of a whole image.
    public convenience init?(_ image: BitmapImage) {
        self.init(image, width: image.width, height: image.height)
    }

    /// A texture of the middle of an image, with at most so many pixels. It uses the row length instead of a copy.
    ///
    /// A texture that has the size at which it is shown is drawn row by row. Any other texture is scaled in each frame, which
    /// takes many times as long.
    public init?(_ image: BitmapImage, width: Int, height: Int) {
        let (width, height) = (min(width, image.width), min(height, image.height))
        let offset = (image.height - height) / 2 * image.bytesPerRow + (image.width - width) / 2 * 4
        let length = (height - 1) * image.bytesPerRow + width * 4
        guard width > 0, height > 0 else { return nil }
        let bytes: OpaquePointer? = image.withUnsafeBytes { pixels in
            guard let base = pixels.baseAddress, offset + length <= pixels.count else { return nil }
            // The image is retained while GDK holds its pixels. `withUnsafeBytes` guarantees that they do not move.
            return g_bytes_new_with_free_func(
                base + offset, gsize(length), { data in data.map { Unmanaged<BitmapImage>.fromOpaque($0).release() } },
                Unmanaged.passRetained(image).toOpaque())
        }
        guard let bytes else { return nil }
        defer { g_bytes_unref(bytes) }
        // For opaque pixels the two formats are the same. But GDK 4.8 with cairo converts each pixel of the premultiplied
        // format through floating-point numbers in each frame, and does not convert the other.
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
