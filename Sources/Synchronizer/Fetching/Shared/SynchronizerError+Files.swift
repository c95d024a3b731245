import Foundation

extension SynchronizerError {
    /// Why a transfer failed: on the network, or because its body could not be written.
    init(_ error: any Error, context: Context) {
        if let error = error as? FileError { self = .file(error, context) } else { self = .transport(error, context) }
    }
}
