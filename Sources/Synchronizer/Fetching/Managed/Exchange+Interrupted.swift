import Foundation
import HTTPCaching

extension Exchange {
    /// The beginning of a representation that was cut short; nil if the rest could not be requested: the response has no
    /// strong validator or is coded, or the caller requested a range itself. `old` is the part that this exchange should have
    /// completed.
    func interrupted(after old: Data?) -> (StoredResponse, Data)? {
        guard !received.body.isEmpty, let (body, length) = beginning(after: old),
            length.map({ body.count < $0 }) ?? true
        else { return nil }
        return resumable(count: body.count, of: length).map { ($0, body) }
    }

    /// The beginning of a representation as a stored part; nil if the rest could not be requested.
    func resumable(count: Int, of length: Int?) -> StoredResponse? {
        let fields = received.fields
        guard step.cacheRequest.method == "GET", !step.cacheRequest.fields.contains(FieldName.range), mayBeKept(fields),
            !fields.contains(FieldName.contentEncoding)
        else { return nil }
        let part = StoredResponse.Part(range: 0..<count, completeLength: length)
        var stored = CacheRules.storedFields(of: fields, receivedAt: received.time)
        stored[FieldName.contentRange] = part.contentRange
        stored[FieldName.contentLength] = String(count)
        let response = StoredResponse(
            url: step.cacheRequest.url, method: "GET",
            selectingFields: CacheRules.selectingFields(of: step.cacheRequest, for: stored), status: 206,
            fields: stored, requestTime: requestTime, responseTime: received.time, part: part)
        return response.hasStrongValidator ? response : nil
    }

    private func mayBeKept(_ fields: HTTPFields) -> Bool {
        let objection = CacheRules.objection(toStoring: 200, fields: fields, answering: step.cacheRequest)
        return objection == nil || objection == .notCacheable
    }

    /// The bytes from the first one on, and the length of the whole where it is known.
    private func beginning(after old: Data?) -> (Data, Int?)? {
        switch received.status {
        case 200: return (received.body, received.bodyLength)
        case 206:
            guard let old, let resumption, resumption.start == old.count else { return nil }
            return (old + received.body, resumption.length)
        default: return nil
        }
    }
}
