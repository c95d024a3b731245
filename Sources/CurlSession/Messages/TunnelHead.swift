/// Finds the challenges of a proxy that refuses a tunnel, in the heads that libcurl sends and receives. Pure, and linear in the
/// number of bytes.
///
/// The proxy is not the origin of the URL. So only a 407 counts of its responses to CONNECT, and of the 407 only the fields
/// `Proxy-Authenticate`. Nothing else may reach the caller, the cookies or a cache.
struct TunnelHead: Sendable {
    private enum Place { case outside, statusLine, fields }

    /// The fields `Proxy-Authenticate`, once the whole head of a 407 has arrived. Nil if another CONNECT was sent since then.
    private(set) var challenges: [CurlResponseHead.Field]?
    private var place = Place.outside
    private var status = 0
    private var fields = FieldLines()
    private var byteCount = 0

    /// Notes what libcurl sends: the response to a CONNECT follows.
    mutating func sent(_ bytes: UnsafeRawBufferPointer) {
        let method = "CONNECT ".utf8
        // An app's own request may have this method, too, but the target of such a request begins with a slash.
        guard bytes.starts(with: method), bytes.dropFirst(method.count).first != UInt8(ascii: "/") else { return }
        self = TunnelHead()
        place = .statusLine
    }

    /// Takes a line of a head, with its end. A head with an error counts as incomplete.
    /// - Returns: Whether the line completes the head of a 407.
    mutating func received(_ line: UnsafeRawBufferPointer) -> Bool {
        guard place != .outside else { return false }
        byteCount += line.count
        do throws(HeadError) {
            guard byteCount <= HeadError.maximumBytes else { throw .tooLarge }
            let content = HeadParser.content(of: line)
            switch place {
            case .statusLine:
                status = try StatusLine(content).status
                place = .fields
            case .fields where content.isEmpty: return endHead()
            case .fields: try fields.append(content)
            case .outside: break
            }
        } catch {
            self = TunnelHead()
        }
        return false
    }

    private mutating func endHead() -> Bool {
        place = .outside
        let all = fields.take()
        guard status == 407 else { return false }
        challenges = all.filter { $0.isNamed(FieldName.proxyAuthenticate) }
        return true
    }
}
