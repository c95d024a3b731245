extension CacheDecisionMaker {
    /// A response that can answer the request if its freshness permits.
    struct Choice {
        let index: Int
        let answer: Selection.Answer
        let date: Date
    }

    /// The selected response: of those that match, the most recent by `Date` (RFC 9111 §4, §4.1).
    func chosen(among candidates: [Candidate]) -> Choice? {
        var best: Choice?
        let siblingVary = siblingVary(candidates)
        for index in candidates.indices {
            guard let choice = choice(at: index, candidate: candidates[index], siblingVary: siblingVary) else {
                continue
            }
            if best.map({ choice.date > $0.date }) ?? true { best = choice }
        }
        return best
    }

    /// §4.1: a response without `Vary` is matched by the fields that the `Vary` of its siblings names.
    private func siblingVary(_ candidates: [Candidate]) -> [String] {
        candidates.count > 1 ? CacheRules.mostRecentVary(of: candidates.map(\.response)) : []
    }

    private func choice(at index: Int, candidate: Candidate, siblingVary: [String]) -> Choice? {
        let response = candidate.response
        guard isEligible(response) else { return nil }
        let facts = response.facts
        guard !facts.contains(.isForbidden), CacheRules.selects(response, for: request, siblingVary: siblingVary),
            let answer = answer(from: candidate)
        else { return nil }
        return Choice(index: index, answer: answer, date: facts.generated)
    }

    /// Whether URI and method match: the response to a GET answers a HEAD too (§4, RFC 9110 §9.3.2).
    private func isEligible(_ response: StoredResponse) -> Bool {
        response.url == request.url
            && (response.method == request.method || (response.method == "GET" && !request.isReusable))
    }

    /// How the response answers the requested range, or the whole; nil if it cannot (§3.3).
    private func answer(from candidate: Candidate) -> Selection.Answer? {
        guard let range = directives.range, request.method == "GET", rangeApplies(candidate.response) else {
            return candidate.response.part == nil ? .stored : nil
        }
        // RFC 9110 §14.2: a range applies to a 200 only.
        guard candidate.response.isRepresentation else { return .stored }
        // A coded body was decoded on arrival, but a range counts coded bytes.
        guard !candidate.response.facts.contains(.hasContentCoding), let range = ByteRange(range) else { return nil }
        return candidate.part.flatMap { $0.answer(to: range) }
    }

    /// RFC 9110 §13.1.5: with `If-Range`, the range applies only to the representation that the caller knows. Like a weak tag, a
    /// weak date identifies no bytes.
    private func rangeApplies(_ response: StoredResponse) -> Bool {
        guard let validator = directives.ifRange else { return true }
        if let tag = EntityTag(validator), tag.isStrong {
            return response.fields.entityTag.flatMap(EntityTag.init)?.matchesStrongly(tag) ?? false
        }
        return response.facts.contains(.hasStrongDate) && validator == response.fields.lastModified
    }

    /// A request for the missing rest of a stored part (§3.3). The two parts combine if they have the same strong validator
    /// (§3.4). The rest of a fresh part is requested even without a validator: a server that does not support ranges sends the
    /// whole representation, which is the answer. If the server sends a part, the whole representation is requested again.
    func completion(of candidates: [Candidate]) -> CacheDecision? {
        guard request.method == "GET", !request.policy.neverLoads, directives.range == nil,
            !directives.isConditional, !directives.control.contains(.onlyIfCached)
        else { return nil }
        let siblingVary = siblingVary(candidates)
        for (index, candidate) in candidates.enumerated() {
            guard let missing = missing(from: candidate, siblingVary: siblingVary) else { continue }
            let response = candidate.response
            let freshness = rules.freshness(of: response, at: now)
            var fields = request.directiveFields
            fields.add(FieldName.range, value: "bytes=\(missing)-")
            let date = response.facts.contains(.hasStrongDate) ? response.fields.lastModified : nil
            if let validator = response.fields.entityTag ?? date {
                fields.add(FieldName.ifRange, value: validator)
            } else if !freshness.isFresh || demandForValidation(freshness, facts: response.facts) != nil {
                continue
            }
            let selection = Selection(index: index, freshness: freshness, answer: .stored, explanation: .incomplete)
            return .complete(selection, fields, from: missing)
        }
        return nil
    }

    /// Where the missing rest begins; nil if the part can't be completed.
    private func missing(from candidate: Candidate, siblingVary: [String]) -> Int? {
        let response = candidate.response
        guard isEligible(response), let part = candidate.part, response.part != nil, part.range.lowerBound == 0,
            candidate.isConsistent, part.completeLength != part.range.upperBound
        else { return nil }
        guard response.fields.entityTag.map({ EntityTag($0)?.isStrong ?? false }) ?? true,
            response.facts.flags.isDisjoint(with: [.hasContentCoding, .isForbidden]),
            CacheRules.selects(response, for: request, siblingVary: siblingVary)
        else { return nil }
        return part.range.upperBound
    }
}

extension Candidate {
    /// The part of the representation that the body holds; nil if the body has another length.
    var part: StoredResponse.Part? {
        guard let part = response.part else { return .init(range: 0..<max(0, bodySize), completeLength: bodySize) }
        return part.range.count == bodySize ? part : nil
    }
}

extension StoredResponse.Part {
    /// The answer to a request for a range; nil unless this part contains all of it (RFC 9111 §3.3).
    func answer(to range: ByteRange) -> Selection.Answer? {
        guard let wanted = bytes(of: range), self.range.lowerBound <= wanted.lowerBound,
            wanted.upperBound <= self.range.upperBound
        else { return nil }
        let offset = self.range.lowerBound
        return .part(
            .init(range: wanted, completeLength: completeLength),
            bytes: (wanted.lowerBound - offset)..<(wanted.upperBound - offset))
    }

    /// If the complete length is unknown, only a range with both ends can be resolved.
    private func bytes(of range: ByteRange) -> Range<Int>? {
        if let completeLength { return range.bytes(ofLength: completeLength) }
        guard case .from(let first, let last?) = range, last < Int.max else { return nil }
        return first..<(last + 1)
    }
}
