#if Valkey && canImport(CHiredis)
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import SynchronizerSupport

    extension SharedLevel {
        /// The result of a lookup of a URL at the server.
        struct Found {
            /// Newest first.
            var entries: [SharedEntry] = []
            /// The verified body that came with the entries.
            var body: (id: Int64, data: Data)?
            /// The token of the last removal; empty for none.
            var token = ""

            /// Whether another machine has replaced a response by one whose body only that machine has.
            func replacesOnlyElsewhere(_ response: StoredResponse) -> Bool {
                entries.contains { $0.isLocal && $0.response.variantKey == response.variantKey }
            }
        }

        /// Which body a lookup needs.
        enum Wanted {
            /// The body of the newest entry, if it is not large.
            case newest
            case variant(UInt64)
            case none
        }

        /// Bodies up to this size come with the entries, in bytes.
        private static let largestBodyWithEntries = 64 << 10

        /// Asks the server about a URL, and copies the found entries into the local level.
        ///
        /// - Returns: nil if the server cannot be asked, if its entries must not be used, or if it has evicted entries that the
        ///   local level still has.
        func ask(_ url: String, wanting wanted: Wanted = .newest) -> Found? {
            guard mayWait else { return nil }
            let key = URLDigest.key(url)
            for _ in 0..<3 {
                let (isPending, lookup) = coherence.withLock { ($0.pending.contains(url), $0.begin(key)) }
                defer { coherence.withLock { $0.end(lookup) } }
                let copies = local.hasCapacity ? local.copies(of: url) : nil
                // Copies that have expired are likely to be the same as the server's entries.
                let isCopied = copies?.isEmpty == false && coherence.withLock { $0.copyCount(key) } != nil
                let needed: Wanted = if case .newest = wanted, isCopied { .none } else { wanted }
                guard !isPending, let found = try? read(url, wanting: needed) else { return nil }
                let now = time.now
                let (isCurrent, isEvicted, own) = coherence.withLock { coherence in
                    guard coherence.isCurrent(lookup) else { return (false, false, Coherence.OwnEntries()) }
                    let isEvicted = found.entries.isEmpty && coherence.hasCopies(key, since: found.token)
                    let own = coherence.ownEntries(key, since: found.token)
                    coherence.noteToken(found.token, of: key, at: now)
                    return (true, isEvicted, own)
                }
                guard isCurrent else { continue }
                if isEvicted { return nil }
                if let copies { copy(found, insteadOf: copies, keeping: own, of: url, during: lookup) }
                return found
            }
            return Found()
        }

        func read(_ url: String, wanting wanted: Wanted) throws(LinkFailure) -> Found {
            for _ in 0..<3 {
                let generation = try generation()
                let key = keys.entries(of: URLDigest(url), in: generation)
                if let found = try read(url, wanting: wanted, at: key, in: generation) { return found }
            }
            throw .server("with another generation each time")
        }

        /// Most lookups need the body of a response that no request field selects. So this asks for that body before it knows the
        /// entries, all in one round trip.
        ///
        /// - Returns: nil if everything was removed.
        private func read(
            _ url: String, wanting wanted: Wanted, at key: String, in generation: String
        ) throws(LinkFailure) -> Found? {
            let (variant, most) = body(wanted)
            var commands = [Command(["HGETALL", key], key: key)]
            if let variant {
                let body = key + ":" + variant
                commands.append(Command(["GETRANGE", body, "0", "\(max(1, most) - 1)"], key: body))
            }
            guard let replies = try run(commands, in: generation) else { return nil }
            guard let fields = replies[0].array else { throw .malformed("a hash is no array") }
            var found = found(fields[...], url: url, key: key)
            guard let entry = entry(wanted, of: found), !entry.isLocal, entry.bodySize <= most else { return found }
            if entry.variant == variant, let body = replies[1].data, entry.isBody(body) {
                found.body = (entry.id, body)
                return found
            }
            // Another variant is the newest, the entry was replaced between the commands, or its body is gone or corrupt.
            return try read(entry.variant, of: url, at: key, in: generation)
        }

        /// The variant whose body to ask for, and the largest useful length of a body.
        private func body(_ wanted: Wanted) -> (variant: String?, most: Int) {
            switch wanted {
            case .newest: (SharedEntry.plainVariant, min(Self.largestBodyWithEntries, limits.sharedBody))
            case .variant(let variant): (SharedEntry.variant(variant), limits.sharedBody)
            case .none: (nil, 0)
            }
        }

        private func entry(_ wanted: Wanted, of found: Found) -> SharedEntry? {
            switch wanted {
            case .newest: found.entries.first
            case .variant(let variant): found.entries.first { $0.response.variantKey == variant }
            case .none: nil
            }
        }

        /// Runs commands, and returns their replies; nil if everything was removed.
        private func run(_ commands: [Command], in generation: String) throws(LinkFailure) -> [Reply]? {
            let replies = try server.run([keys.currentGeneration] + commands)
            if replies[0].text == generation { return Array(replies.dropFirst()) }
            adopt(replies[0].text, insteadOf: generation)
            return nil
        }

        /// Reads the entries and a body atomically, by a script.
        private func read(
            _ variant: String, of url: String, at key: String, in generation: String
        ) throws(LinkFailure) -> Found? {
            let most = Command.Argument.text("\(limits.sharedBody)")
            guard
                let replies = try run([Command(.read, keys: [key], arguments: [.text(variant), most])], in: generation)
            else { return nil }
            guard let parts = replies.first?.array, parts.count >= 2 else { throw .malformed("a hash is no array") }
            var found = found(parts.dropLast(2), url: url, key: key)
            if let body = parts[parts.count - 1].data,
                let entry = found.entries.first(where: { $0.variant == variant })
            {
                if entry.isBody(body) { found.body = (entry.id, body) } else { drop([variant], of: key) }
                if found.body == nil { found.entries.removeAll { $0.id == entry.id } }
            }
            return found
        }

        private func found(_ fields: ArraySlice<Reply>, url: String, key: String) -> Found {
            var (found, corrupt) = (Found(), [String]())
            for index in stride(from: fields.startIndex, to: fields.endIndex - 1, by: 2) {
                guard let name = fields[index].text, let value = fields[index + 1].data else { continue }
                if name == "x", let token = ChangeMessage.token(value) {
                    found.token = token
                } else if let entry = SharedEntry(value, url: url, variant: name) {
                    found.entries.append(entry)
                } else {
                    corrupt.append(name)
                }
            }
            if !corrupt.isEmpty { drop(corrupt, of: key) }
            if found.entries.count > 1 { found.entries.sort { $0.revision > $1.revision } }
            return found
        }

        /// Removes corrupt entries. If another process replaces one of them at this moment, its new entry may be lost, too.
        private func drop(_ variants: [String], of key: String) {
            counts.withLock { $0.corrupt += variants.count }
            let bodies = variants.map { key + ":" + $0 }
            _ = try? server.run([
                Command(["HDEL", key] + variants, key: key), Command(["UNLINK"] + bodies, keys: bodies),
            ])
        }

        // MARK: - Copying

        /// Gives the local level the same entries as the server, as far as their bodies are known.
        ///
        /// If another machine has replaced a response by one whose body only that machine has, the local level keeps its own
        /// response.
        ///
        /// - Parameter copies: the copies in the local level before the server was asked. Later copies may be newer.
        func copy(
            _ found: Found, insteadOf copies: [(id: Int64, record: EncodedRecord)],
            keeping own: Coherence.OwnEntries = .init(), of url: String, during lookup: Coherence.Lookup
        ) {
            var (count, isComplete, isInserting, expires) = (0, true, false, Date.distantPast)
            for copy in copies where !found.entries.contains(where: { $0.id == copy.id }) {
                if let response = copy.record.decoded?.response, found.replacesOnlyElsewhere(response),
                    response.requestTime >= own.since, copy.id == own.last || isLarge(copy.id, of: url)
                {
                    count += 1
                    expires = max(expires, SharedLifetime.expiration(of: response))
                } else {
                    local.removeCopy(copy.id, of: url)
                }
            }
            for entry in found.entries.reversed() {
                let copy = copies.first { $0.id == entry.id }
                let isSame = copy.map { $0.record.bytes == entry.record.bytes } ?? false
                if copy == nil, entry.isLocal { continue }
                expires = max(expires, SharedLifetime.expiration(of: entry.response))
                if isSame, !isInserting {
                    count += 1
                    continue
                }
                guard let body = body(of: entry, in: found, isCopied: copy != nil) else {
                    isComplete = false
                    local.removeCopy(entry.id, of: url)
                    continue
                }
                isInserting = true  // newer entries are stored again, after this one
                if keep(entry, body: body, of: url) { count += 1 } else { isComplete = false }
            }
            let isCurrent = coherence.withLock { coherence in
                guard coherence.isCurrent(lookup) else { return false }
                if isComplete, count > 0 { coherence.didCopy(URLDigest.key(url), count: count, until: expires) }
                return true
            }
            if !isCurrent { local.removeEntries(for: url) }
        }

        /// Whether the server does not get the body of an entry, because it is large.
        private func isLarge(_ id: Int64, of url: String) -> Bool {
            local.entries(for: url).contains { $0.id == id && $0.bodySize > limits.sharedBody }
        }

        /// Returns false if another process of this machine has copied a later response, or removed the URL, since the request.
        private func keep(_ entry: SharedEntry, body: Data, of url: String) -> Bool {
            local.keep(
                MirroredEntry(
                    id: entry.id, record: entry.record, variant: entry.response.variantKey,
                    body: entry.place == .memory ? .memory(body) : .data(body)), of: url, yields: true)
        }

        private func body(of entry: SharedEntry, in found: Found, isCopied: Bool) -> Data? {
            if let body = found.body, body.id == entry.id { return body.data }
            guard isCopied, let body = local.body(of: entry.stored), entry.isBody(body) else { return nil }
            return body
        }
    }
#endif
