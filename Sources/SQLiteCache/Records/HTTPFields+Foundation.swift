import Foundation
import HTTPCaching
import SynchronizerSupport

extension HTTPFields {
    /// The headers of a response. Foundation has joined repeated lines, and lost their order.
    package init(of response: HTTPURLResponse) {
        self.init(
            response.allHeaderFields.compactMap { name, value in
                guard let name = name as? String, let value = value as? String else { return nil }
                return (name, value)
            })
    }

    /// The headers that a request sets itself.
    package init(of request: URLRequest) {
        self.init((request.allHTTPHeaderFields ?? [:]).map { ($0.key, $0.value) })
    }

    /// The headers as Foundation represents them: one value for each name, in the case of its first line.
    package var dictionary: [String: String] {
        let lines = lines
        // Comparing a few names takes less time than `JoinedFields` does.
        let mayDifferInCase =
            lines.count > 32
            || lines.indices.contains { index in
                let name = lines[index].name
                return lines[..<index].contains { Self.same($0.name, name) && $0.name != name }
            }
        if !mayDifferInCase { return Dictionary(lines.lazy.map { ($0.name, $0.value) }) { $0 + ", " + $1 } }
        var joined = JoinedFields()
        for line in lines { joined.add(line.name, value: line.value) }
        return joined.dictionary
    }
}
