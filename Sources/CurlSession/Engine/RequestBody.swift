import Foundation

/// What a request sends after its head.
enum RequestBody: Sendable {
    case none
    case data(Data)
    /// A stream of `length` bytes; nil if the number is unknown.
    case stream(BodyStream, length: Int64?)
    /// The content of a file, which each exchange opens for itself.
    case file(URL)
    /// The session asks the delegate for a stream.
    case asked

    var isEmpty: Bool { if case .none = self { true } else { false } }

    /// Whether the same exchange can send it twice.
    var canBeSentAgain: Bool {
        switch self {
        case .none, .data: true
        case .stream, .file, .asked: false
        }
    }

    /// The number of bytes; -1 if it is unknown.
    var length: Int64 {
        switch self {
        case .none: 0
        case .asked, .file: -1
        case .data(let data): Int64(data.count)
        case .stream(_, let length): length ?? -1
        }
    }

    /// The body as an exchange sends it: a file becomes a stream.
    /// - Throws: `.cannotOpenFile` if Foundation creates no stream for the file.
    func opened() throws(URLError) -> RequestBody {
        guard case .file(let file) = self else { return self }
        guard let stream = InputStream(url: file) else {
            throw URLError(.cannotOpenFile, because: "the file of the body can't be opened")
        }
        return .stream(BodyStream(stream), length: Self.length(of: file))
    }

    /// The number of bytes that a file has; nil if only reading it tells. A pipe has no size, and the size of a file of the kernel
    /// (`/proc`) is 0, whatever its content is. `stat` follows a link to the file that `InputStream` reads.
    private static func length(of file: URL) -> Int64? {
        var status = stat()
        guard stat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return nil }
        return Int64(status.st_size)
    }
}
