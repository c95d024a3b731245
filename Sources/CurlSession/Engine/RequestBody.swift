import Foundation

/// What a request sends after its head.
enum RequestBody: Sendable {
    case none
    case data(Data)
    /// Of that many bytes, or of an unknown number.
    case stream(BodyStream, length: Int64?)
    /// The delegate provides it when it is asked.
    case asked

    var isEmpty: Bool { if case .none = self { true } else { false } }

    /// The number of bytes; -1 if it is unknown.
    var length: Int64 {
        switch self {
        case .none: 0
        case .asked: -1
        case .data(let data): Int64(data.count)
        case .stream(_, let length): length ?? -1
        }
    }
}

extension RequestBody {
    /// The content of a file, which is opened when the task reads it.
    init(file: URL) {
        guard let stream = InputStream(url: file) else {
            self = .data(Data())
            return
        }
        let size = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize
        self = .stream(BodyStream(stream), length: size.map(Int64.init))
    }
}
