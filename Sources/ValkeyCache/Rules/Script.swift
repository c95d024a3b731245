/// The Lua scripts, each of which the server runs atomically. The field `x` holds the token of the last removal. Offsets in values
/// are those of ``SharedEntry``: 1 to 16 are the revision, 17 to 32 the identifier, 33 to 48 the time of the request, 49 to 64 the
/// number of the lease, 65 to 80 the time when the response expires.
package enum Script: Int, CaseIterable, Sendable {
    /// Reads all entries of a URL, and the body of one. A script copies a body several times, which takes longer than the rest of a
    /// lookup. So lookups use this script only if plain commands have returned entries and a body that do not belong together.
    /// KEYS: entries. ARGV: variant, largest body. Returns fields and values, the variant, and the body or null. A body of another
    /// type counts as none: an error would make the client remove the entries.
    case read
    /// Stores an entry. KEYS: entries, body. ARGV: variant, value, body, whether there is a body, milliseconds, expected token of a
    /// removal, channel, message, most variants, time, whether the machine has a copy in use. Returns the number of variants; -1 if
    /// the last removal has another token; -2 if a later response is stored: its lease was granted later or, if the leases do not
    /// decide, it was requested later (but not after ARGV's time). Announces a change only if a machine may use an older copy: not
    /// the first entry of a URL, and not that the only entry was replaced long after it had expired. If the server has evicted the
    /// old entry, the copy of the machine that stores decides.
    case store
    /// Replaces an entry. KEYS: entries, old body, new body.
    /// ARGV: old variant, identifier, new variant, value, milliseconds, channel, message, time. Returns 1; 0 if the old entry is
    /// gone; -2 as `store` does. Announces the change as `store` does.
    case update
    /// Removes one entry. KEYS: entries, body. ARGV: variant, identifier, channel, message.
    case remove
    /// Removes all entries of a URL. KEYS: entries. ARGV: token, milliseconds to remember it, channel, message.
    case invalidate
    /// Begins a generation, which removes everything. KEYS: generation. ARGV: generation, channel, message.
    case begin
    /// Requests a lease. KEYS: lease, a key that remembers the lease's number. ARGV: owner, whose first 16 digits identify the
    /// process; milliseconds; milliseconds to remember the number. If the lease is granted, returns 1, or 2 if it follows another
    /// lease, and the lease's number. Otherwise returns -1 if the same process holds the lease, 0 if another one does. A key without
    /// an expiry is no lease: this cache can't have set it, and it would never end. The number is the server's time in microseconds,
    /// so that numbers grow even if the server has forgotten the last number.
    case lease
    /// Releases a lease, unless another owner has it. KEYS: lease. ARGV: owner, channel, message. Returns 0 if the server did not
    /// have the lease of this owner. If it has lost the lease, it announces the end all the same, because loads may wait for it.
    case release

    package var source: String {
        switch self {
        case .read: Self.readSource
        case .store: Self.storeSource
        case .update: Self.updateSource
        case .remove:
            """
            local old = redis.call('HGET', KEYS[1], ARGV[1])
            if not old or string.sub(old, 17, 32) ~= ARGV[2] then return 0 end
            redis.call('HDEL', KEYS[1], ARGV[1])
            redis.call('DEL', KEYS[2])
            redis.call('PUBLISH', ARGV[3], ARGV[4])
            return 1
            """
        case .invalidate:
            // A full server still deletes. After a deletion, it refuses no command of the same script.
            """
            for _, f in ipairs(redis.call('HKEYS', KEYS[1])) do redis.call('DEL', KEYS[1] .. ':' .. f) end
            redis.call('DEL', KEYS[1])
            redis.call('PUBLISH', ARGV[3], ARGV[4])
            redis.call('HSET', KEYS[1], 'x', ARGV[1])
            redis.call('PEXPIRE', KEYS[1], ARGV[2])
            return 1
            """
        case .begin:
            // Because of the deletion, a full server runs the other commands, too.
            """
            redis.call('DEL', KEYS[1])
            redis.call('SET', KEYS[1], ARGV[1])
            redis.call('PUBLISH', ARGV[2], ARGV[3])
            return 1
            """
        case .lease:
            """
            local held = redis.call('GET', KEYS[1])
            if held and held ~= ARGV[1] and redis.call('PTTL', KEYS[1]) >= 0 then
                return string.sub(held, 1, 16) == string.sub(ARGV[1], 1, 16) and -1 or 0
            end
            local last = redis.call('GET', KEYS[2])
            local time = redis.call('TIME')
            local number = math.max(time[1] * 1000000 + time[2], (tonumber(last or '') or 0) + 1)
            redis.call('SET', KEYS[2], string.format('%.0f', number), 'PX', ARGV[3])
            redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
            return {last and 2 or 1, string.format('%016x', number)}
            """
        case .release:
            """
            local held = redis.call('GET', KEYS[1])
            if held and held ~= ARGV[1] then return 0 end
            if held then redis.call('DEL', KEYS[1]) end
            redis.call('PUBLISH', ARGV[2], ARGV[3])
            return held and 1 or 0
            """
        }
    }

    private static let readSource = """
        local all = redis.call('HGETALL', KEYS[1])
        local key, body = KEYS[1] .. ':' .. ARGV[1], false
        local size = redis.pcall('STRLEN', key)
        if type(size) == 'number' and size <= tonumber(ARGV[2]) then body = redis.call('GET', key) end
        all[#all + 1] = ARGV[1]
        all[#all + 1] = body
        return all
        """

    /// Whether a stored value is later than a new one. A lease number or a time in the future does not count, because it means that
    /// a clock was set back.
    private static let isLaterSource = """
        local function isLater(old, new, clock)
            local one, other = string.sub(old, 49, 64), string.sub(new, 49, 64)
            local none, time = string.rep('0', 16), redis.call('TIME')
            local now = string.format('%016x', time[1] * 1000000 + time[2])
            if one ~= none and other ~= none and one ~= other and one <= now then return one > other end
            one = string.sub(old, 33, 48)
            return one > string.sub(new, 33, 48) and one <= clock
        end

        """

    /// By how many seconds the clock of a machine may be slower than the server's: for so long after an expiry, the server
    /// announces that the response was replaced.
    package static let slowestClock = 5

    /// Whether a machine may still use its copy of a value.
    private static let isUsedSource = """
        local function isUsed(old)
            local time = redis.call('TIME')
            return string.sub(old, 65, 80) > string.format('%016x', (time[1] - \(slowestClock)) * 1000000 + time[2])
        end

        """

    private static let storeSource =
        isLaterSource + isUsedSource + """
            local x = redis.call('HGET', KEYS[1], 'x')
            if (x or '') ~= ARGV[6] then return -1 end
            local old = redis.call('HGET', KEYS[1], ARGV[1])
            if old and isLater(old, ARGV[2], ARGV[10]) then return -2 end
            local had = old and 1 or 0
            local count = redis.call('HLEN', KEYS[1]) - (x and 1 or 0) + 1 - had
            if ARGV[4] == '1' then
                redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[5])
            else
                redis.call('DEL', KEYS[2])
            end
            redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
            if count > tonumber(ARGV[9]) then
                local all, oldest, field = redis.call('HGETALL', KEYS[1]), 'g', ''
                for i = 1, #all, 2 do
                    local revision = string.sub(all[i + 1], 1, 16)
                    if all[i] ~= 'x' and all[i] ~= ARGV[1] and revision < oldest then oldest = revision; field = all[i] end
                end
                redis.call('HDEL', KEYS[1], field)
                redis.call('DEL', KEYS[1] .. ':' .. field)
            end
            if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
            local isReplaced = old and isUsed(old) or not old and ARGV[11] == '1'
            if count > 1 or isReplaced then redis.call('PUBLISH', ARGV[7], ARGV[8]) end
            return count
            """

    private static let updateSource =
        isLaterSource + isUsedSource + """
            local old = redis.call('HGET', KEYS[1], ARGV[1])
            if not old or string.sub(old, 17, 32) ~= ARGV[2] then return 0 end
            for _, variant in ipairs({ARGV[1], ARGV[3]}) do
                if isLater(redis.call('HGET', KEYS[1], variant) or '', ARGV[4], ARGV[8]) then return -2 end
            end
            if ARGV[1] ~= ARGV[3] then
                redis.call('HDEL', KEYS[1], ARGV[1])
                if redis.call('EXISTS', KEYS[2]) == 1 then
                    redis.call('RENAME', KEYS[2], KEYS[3])
                else
                    redis.call('DEL', KEYS[3])
                end
            end
            redis.call('HSET', KEYS[1], ARGV[3], ARGV[4])
            for _, key in ipairs({KEYS[1], KEYS[3]}) do
                if redis.call('PTTL', key) < tonumber(ARGV[5]) then redis.call('PEXPIRE', key, ARGV[5]) end
            end
            local count = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], 'x')
            if count > 1 or ARGV[1] ~= ARGV[3] or isUsed(old) then redis.call('PUBLISH', ARGV[6], ARGV[7]) end
            return 1
            """
}
