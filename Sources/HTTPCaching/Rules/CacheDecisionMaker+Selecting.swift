extension CacheDecisionMaker {
    /// A response that can answer the request, apart from its freshness.
    struct Choice {
        let index: Int
        let facts: ResponseFacts
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
        let facts = ResponseFacts(response.fields)
        guard !facts.forbidsStoring(status: response.status),
            CacheRules.selects(request, response, facts: facts, siblingVary: siblingVary),
            let answer = answer(from: candidate, facts: facts)
        else { return nil }
        let date = facts.date(at: response.responseTime) ?? response.responseTime
        return Choice(index: index, facts: facts, answer: answer, date: date)
    }

    /// Whether URI and method match: the response to a GET answers a HEAD too (§4, RFC 9110 §9.3.2).
    private func isEligible(_ response: StoredResponse) -> Bool {
        response.url == request.url
            && (response.method == request.method || (response.method == "GET" && !request.isReusable))
    }

    /// How the response answers the requested range, or the whole; nil if it cannot (§3.3).
    private func answer(from candidate: Candidate, facts: ResponseFacts) -> Selection.Answer? {
        guard let range = directives.range, request.method == "GET", rangeApplies(facts) else {
            return candidate.response.part == nil ? .stored : nil
        }
        let whole = candidate.response.status == 200 || candidate.response.status == 206
        guard whole else { return .stored }  // RFC 9110 §14.2: a range applies to a 200 only
        // A coded body was decoded on arrival: a range counts the coded bytes.
        guard !facts.hasContentCoding, let range = ByteRange(range) else { return nil }
        return candidate.part.flatMap { $0.answer(to: range) }
    }

    /// RFC 9110 §13.1.5: with `If-Range`, the range applies only to the representation that the caller knows.
    private func rangeApplies(_ facts: ResponseFacts) -> Bool {
        guard let validator = directives.ifRange else { return true }
        if let tag = EntityTag(validator), tag.isStrong {
            return facts.entityTag.flatMap(EntityTag.init)?.matchesStrongly(tag) ?? false
        }
        return validator == facts.lastModified
    }

    /// A request for the missing rest of a stored part (§3.3). The two parts combine if they have the same strong validator
    /// (§3.4). The rest of a fresh part without a validator is requested too: a server without ranges sends the whole
    /// representation, which is the answer; if it sends a part instead, the whole is requested again.
    func completion(of candidates: [Candidate]) -> CacheDecision? {
        guard request.method == "GET", !request.policy.neverLoads, directives.range == nil,
            !directives.isConditional, !directives.control.contains(.onlyIfCached)
        else { return nil }
        let siblingVary = siblingVary(candidates)
        for (index, candidate) in candidates.enumerated() {
            guard let (facts, missing) = completable(candidate, siblingVary: siblingVary) else { continue }
            let freshness = rules.freshness(of: candidate.response, facts: facts, at: now)
            var fields = HTTPFields([(FieldName.range, "bytes=\(missing)-")])
            let date = candidate.response.hasStrongDate(facts) ? facts.lastModified : nil
            if let validator = facts.entityTag ?? date {
                fields.add(FieldName.ifRange, validator)
            } else if !freshness.isFresh || demandForValidation(freshness, facts: facts) != nil {
                continue
            }
            let selection = Selection(index: index, freshness: freshness, answer: .stored, explanation: .incomplete)
            return .complete(selection, fields, from: missing)
        }
        return nil
    }

    private func completable(_ candidate: Candidate, siblingVary: [String]) -> (ResponseFacts, missing: Int)? {
        let response = candidate.response
        guard isEligible(response), let part = candidate.part, response.part != nil, part.range.lowerBound == 0,
            candidate.isConsistent, part.completeLength != part.range.upperBound
        else { return nil }
        let facts = ResponseFacts(response.fields)
        guard facts.entityTag.map({ EntityTag($0)?.isStrong ?? false }) ?? true, !facts.hasContentCoding,
            !facts.forbidsStoring(status: response.status),
            CacheRules.selects(request, response, facts: facts, siblingVary: siblingVary)
        else { return nil }
        return (facts, part.range.upperBound)
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
