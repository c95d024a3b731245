/// One coding of a body: its library, its streams and the input that waits for them.
final class CodingStage {
    private enum Place { case start, inStream, betweenStreams, ignoringRest }

    private let library: any CodingLibrary
    private var place = Place.start
    private var input: [UInt8] = []
    private var consumed = 0
    /// Whether the last call filled the output, so that the library may have more output without more input. Otherwise the library
    /// is not called without input, because libzstd treats 16 calls without progress as corruption.
    private var mayHaveOutput = false

    init(_ library: any CodingLibrary) {
        self.library = library
    }

    func push(_ bytes: UnsafeRawBufferPointer) {
        guard place != .ignoringRest else { return }
        input.removeSubrange(..<consumed)
        consumed = 0
        input.append(contentsOf: bytes)
    }

    /// Decodes until there is output. Returns 0 if the input is used up before.
    func decode(into output: UnsafeMutableRawBufferPointer) throws(ContentDecodingError) -> Int {
        while true {
            switch place {
            case .start, .betweenStreams:
                guard try beginStream() else { return 0 }
            case .inStream:
                guard consumed < input.count || mayHaveOutput else { return 0 }
                let step = try advance(output)
                if step.ended { endStream() }
                if step.produced > 0 { return step.produced }
                guard step.ended || step.consumed > 0 || consumed == input.count else { throw .corrupt }
            case .ignoringRest:
                return 0
            }
        }
    }

    func finish() throws(ContentDecodingError) {
        switch place {
        case .start where input.isEmpty: break
        case .start, .inStream: throw .truncated
        case .betweenStreams, .ignoringRest: break
        }
    }

    /// Begins a stream if the input begins with one. Returns false if it needs more input to decide.
    private func beginStream() throws(ContentDecodingError) -> Bool {
        guard input.count - consumed >= max(1, library.signatureLength) else { return false }
        let begins = input.withUnsafeBytes { library.begin(UnsafeRawBufferPointer(rebasing: $0[consumed...])) }
        guard begins || place == .betweenStreams else { throw .corrupt }
        place = begins ? .inStream : .ignoringRest
        return true
    }

    private func advance(_ output: UnsafeMutableRawBufferPointer) throws(ContentDecodingError) -> CodingStep {
        let step = input.withUnsafeBytes { bytes in
            Result { () throws(ContentDecodingError) in
                try library.decode(UnsafeRawBufferPointer(rebasing: bytes[consumed...]), into: output)
            }
        }
        let done = try step.get()
        consumed += done.consumed
        mayHaveOutput = done.produced == output.count
        return done
    }

    private func endStream() {
        place = library.hasSeveralStreams ? .betweenStreams : .ignoringRest
    }
}
