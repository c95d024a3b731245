extension Judge {
    /// A response that can answer the request as far as everything but freshness goes.
    struct Choice {
        let index: Int
        let facts: ResponseFacts
        let answer: Selection.Answer
        let date: Date
    }

    /// The selected response: the most recent, by its `Date`, of those that fit (RFC 9111 §4, §4.1).
    func chosen(among candidates: [Candidate]) -> Choice? {
        var best: Choice?
        let siblingVary = siblingVary(candidates)
        for index in candidates.indices {
            guard let choice = choice(index, candidates[index], siblingVary) else { continue }
            if best.map({ choice.date > $0.date }) ?? true { best = choice }
        }
        return best
    }

    /// §4.1: a response without `Vary` is matched by what the `Vary` of the others names.
    private func siblingVary(_ candidates: [Candidate]) -> [String] {
        candidates.count > 1 ? SelectingFields.mostRecentVary(of: candidates.map(\.response)) : []
    }

    private func choice(_ index: Int, _ candidate: Candidate, _ siblingVary: [String]) -> Choice? {
        let response = candidate.response
        guard isFor(request, response) else { return nil }
        let facts = ResponseFacts(response.fields)
        guard !facts.forbidsStoring(status: response.status),
            SelectingFields.match(request, response, facts, siblingVary: siblingVary),
            let answer = answer(candidate, facts)
        else { return nil }
        let date = facts.date.flatMap { HTTPDate.parse($0, at: response.responseTime) } ?? response.responseTime
        return Choice(index: index, facts: facts, answer: answer, date: date)
    }

    /// The target URI, and a method that allows it: what answers GET answers HEAD, too (§4, RFC 9110 §9.3.2).
    private func isFor(_ request: CacheRequest, _ response: StoredResponse) -> Bool {
        response.url == request.url && (response.method == "GET" || response.method == request.method)
    }

    /// How the response answers the request's range, or the lack of one; nil if it cannot (§3.3).
    private func answer(_ candidate: Candidate, _ facts: ResponseFacts) -> Selection.Answer? {
        guard let range = directives.range, request.method == "GET", rangeApplies(facts) else {
            return candidate.response.part == nil ? .stored : nil
        }
        let whole = candidate.response.status == 200 || candidate.response.status == 206
        guard whole else { return .stored }  // RFC 9110 §14.2: a range matters to a 200 only
        // The bytes of a coded body were decoded on arrival: they are not those that the range counts.
        guard !facts.hasContentCoding, let range = ByteRange(range) else { return nil }
        return candidate.part.flatMap { $0.answer(to: range) }
    }

    /// RFC 9110 §13.1.5: a range is for a representation that the caller knows; if it is another one, there is no range.
    private func rangeApplies(_ facts: ResponseFacts) -> Bool {
        guard let validator = directives.ifRange else { return true }
        if let tag = EntityTag(validator), tag.isStrong {
            return facts.entityTag.flatMap(EntityTag.init)?.matchesStrongly(tag) ?? false
        }
        return validator == facts.lastModified
    }

    /// A request for what a stored part lacks (§3.3). Where both have the same strong validator they fit together (§3.4).
    /// A fresh part without any is asked about, too: a server that does not do ranges sends the whole, which is the
    /// answer; a part that comes back is of no use, and the whole is asked for.
    func completion(of candidates: [Candidate]) -> Verdict? {
        guard request.method == "GET", request.policy != .returnCacheDontLoad, directives.range == nil,
            !directives.isConditional, !directives.control.contains(.onlyIfCached)
        else { return nil }
        let siblingVary = siblingVary(candidates)
        for (index, candidate) in candidates.enumerated() {
            guard let (facts, missing) = completable(candidate, siblingVary) else { continue }
            let freshness = Freshness(of: candidate.response, facts, rules: rules, at: now)
            var fields = HTTPFields([("Range", "bytes=\(missing)-")])
            let date = candidate.response.hasStrongDate(facts) ? facts.lastModified : nil
            if let validator = facts.entityTag ?? date {
                fields.add("If-Range", validator)
            } else if !freshness.isFresh || demandForValidation(freshness, facts) != nil {
                continue
            }
            let selection = Selection(index: index, freshness: freshness, answer: .stored, explanation: .incomplete)
            return .complete(selection, fields, from: missing)
        }
        return nil
    }

    private func completable(_ candidate: Candidate, _ siblingVary: [String]) -> (ResponseFacts, missing: Int)? {
        let response = candidate.response
        guard isFor(request, response), let part = candidate.part, response.part != nil, part.range.lowerBound == 0,
            candidate.isConsistent, part.completeLength != part.range.upperBound
        else { return nil }
        let facts = ResponseFacts(response.fields)
        guard facts.entityTag.map({ EntityTag($0)?.isStrong ?? false }) ?? true, !facts.hasContentCoding,
            !facts.forbidsStoring(status: response.status),
            SelectingFields.match(request, response, facts, siblingVary: siblingVary)
        else { return nil }
        return (facts, part.range.upperBound)
    }
}

extension Candidate {
    /// The bytes of the representation that the body holds; nil if the body does not have their length.
    var part: StoredResponse.Part? {
        guard let part = response.part else { return .init(range: 0..<max(0, bodySize), completeLength: bodySize) }
        return part.range.count == bodySize ? part : nil
    }
}

extension StoredResponse.Part {
    /// The answer to a request for a range, out of this part; nil if the range is not wholly in it (RFC 9111 §3.3).
    func answer(to range: ByteRange) -> Selection.Answer? {
        guard let wanted = bytes(of: range), self.range.lowerBound <= wanted.lowerBound,
            wanted.upperBound <= self.range.upperBound
        else { return nil }
        let offset = self.range.lowerBound
        return .part(
            .init(range: wanted, completeLength: completeLength),
            bytes: (wanted.lowerBound - offset)..<(wanted.upperBound - offset))
    }

    /// Where the length is not known only a range with both ends can be told.
    private func bytes(of range: ByteRange) -> Range<Int>? {
        if let completeLength { return range.bytes(ofLength: completeLength) }
        guard case .from(let first, let last?) = range, last < Int.max else { return nil }
        return first..<(last + 1)
    }
}
