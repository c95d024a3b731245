extension HTTPCache {
    /// What to store of a response.
    public enum Storing: Hashable, Sendable {
        /// Store the response with its body, in place of the candidates at these positions.
        case store(StoredResponse, replacing: [Int])
        /// Store nothing. The candidates stay.
        case nothing(reason: String)
    }

    /// Decides what to store of a complete response (RFC 9111 §3).
    ///
    /// - Parameters:
    ///   - status: the status of the response.
    ///   - fields: the fields of the response.
    ///   - request: the request that was sent, with all of its fields.
    ///   - candidates: the responses stored under the key of the request.
    ///   - requestTime: when the request was sent, by the clock of ``decision(for:among:at:)``.
    ///   - responseTime: when the head of the response arrived.
    public static func storing(
        _ status: Int, fields: HTTPFields, answering request: CacheRequest, among candidates: [Candidate] = [],
        requestTime: Date, responseTime: Date
    ) -> Storing {
        if status == 206 { return .nothing(reason: StoringObjection.status.rawValue) }
        if let objection = CacheRules.objection(toStoring: status, fields: fields, answering: request) {
            return .nothing(reason: objection.rawValue)
        }
        let responses = candidates.map(\.response)
        let response = StoredResponse(
            url: request.url, method: "GET",
            selectingFields: CacheRules.selectingFields(of: request, for: fields, among: responses),
            status: status, fields: CacheRules.storedFields(of: fields, receivedAt: responseTime),
            requestTime: requestTime, responseTime: responseTime)
        let superseded = Set(CacheRules.superseded(by: fields, answering: request, among: responses))
        let replaced = responses.indices.filter { index in
            superseded.contains(index)
                || (responses[index].method == "GET" && responses[index].selectingFields == response.selectingFields)
        }
        return .store(response, replacing: replaced)
    }

    /// What a 304 means for the stored responses (RFC 9111 §4.3.4).
    public enum Freshening: Hashable, Sendable {
        /// The stored response is the answer. Replace the candidates at these positions with these responses, and keep their
        /// bodies. If the answer is not among them, the 304 confirms it without identifying it: use the answer unchanged.
        ///
        /// Remove the candidates at the positions in `removing`. The 304 confirms them, too. But it says `no-store` or
        /// `Vary: *`; or its new `Vary`, or its `private`, which binds them to cookies, makes them depend on request fields whose
        /// values are not known for them.
        case update([Int: StoredResponse], removing: [Int])
        /// The 304 is about another representation: send the request again without conditions.
        case mismatch
    }

    /// Applies a 304 to the stored responses that it confirms.
    ///
    /// - Parameters:
    ///   - fields: the fields of the 304.
    ///   - answer: the answer of the decision ``Decision/validate(_:_:)``.
    ///   - candidates: the candidates of the decision.
    ///   - request: the request of the decision, without the fields that the decision added.
    ///   - requestTime: when the validation was sent.
    ///   - responseTime: when the 304 arrived.
    public static func freshening(
        with fields: HTTPFields, of answer: Answer, among candidates: [Candidate], answering request: CacheRequest,
        requestTime: Date, responseTime: Date
    ) -> Freshening {
        guard candidates.indices.contains(answer.index) else { return .mismatch }
        switch CacheRules.confirmation(by: fields, asked: answer.index, among: candidates, for: request) {
        case .mismatch: return .mismatch
        case .update(let indices):
            let responses = candidates.map(\.response)
            var updates: [Int: StoredResponse] = [:]
            for index in indices {
                let freshened = CacheRules.freshened(
                    responses[index], by: fields, requestTime: requestTime, responseTime: responseTime)
                guard freshened.mayStayStored else { continue }
                updates[index] = CacheRules.rebound(
                    freshened, from: responses[index], to: index == answer.index ? request : nil, among: responses)
            }
            return .update(updates, removing: indices.filter { updates[$0] == nil })
        }
    }

    /// The keys whose responses must be removed after a response to an unsafe method such as `POST` (RFC 9111 §4.4). Empty
    /// for safe methods and for errors. The server has changed these resources even if the body of its response does not arrive.
    public static func invalidatedKeys(after request: CacheRequest, status: Int, fields: HTTPFields) -> [String] {
        CacheRules.invalidatedKeys(after: request, status: status, fields: fields)
    }
}
