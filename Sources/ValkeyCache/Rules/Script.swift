/// What the server does in one step (Lua). `x` is the field of a removal's token. Offsets in values are those of
/// ``SharedEntry``: 1 to 16 are the revision, 17 to 32 the identifier, 33 to 48 the time of the request.
package enum Script: Int, CaseIterable, Sendable {
    /// All entries of a URL, and the body of one: of the variant that is named, or else of the newest entry.
    /// KEYS: entries. ARGV: variant, largest body. Returns fields and values, the variant, and the body or null.
    case read
    /// KEYS: entries, body. ARGV: variant, value, body, whether there is a body, milliseconds, expected token of a removal,
    /// channel, message, most variants, time. Returns how many variants there are; -1 after another removal, -2 if a response
    /// is stored that was requested later, and before that time.
    case store
    /// KEYS: entries, old body, new body.
    /// ARGV: old variant, identifier, new variant, value, milliseconds, channel, message, time. Returns -2 as `store` does.
    case update
    /// Removes one entry. KEYS: entries, body. ARGV: variant, identifier, channel, message.
    case remove
    /// Removes all entries of a URL. KEYS: entries. ARGV: token, milliseconds to remember it, channel, message.
    case invalidate
    /// KEYS: generation. ARGV: generation, channel, message.
    case begin
    /// KEYS: lease, a key that remembers it. ARGV: owner, of which 16 digits stand for the process; milliseconds; milliseconds to
    /// remember it. Returns 1 if the lease is granted, 2 if it is and follows another one, 0 if it is held, -1 if by the
    /// same process.
    case lease
    /// KEYS: lease. ARGV: owner, channel, message.
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
            // Deleting works on a full server. Then only the token is missing.
            """
            for _, f in ipairs(redis.call('HKEYS', KEYS[1])) do redis.call('DEL', KEYS[1] .. ':' .. f) end
            redis.call('DEL', KEYS[1])
            redis.call('PUBLISH', ARGV[3], ARGV[4])
            redis.pcall('HSET', KEYS[1], 'x', ARGV[1])
            redis.pcall('PEXPIRE', KEYS[1], ARGV[2])
            return 1
            """
        case .begin:
            """
            redis.call('SET', KEYS[1], ARGV[1])
            redis.call('PUBLISH', ARGV[2], ARGV[3])
            return 1
            """
        case .lease:
            """
            local held = redis.call('GET', KEYS[1])
            if held and held ~= ARGV[1] then
                return string.sub(held, 1, 16) == string.sub(ARGV[1], 1, 16) and -1 or 0
            end
            local recent = redis.call('EXISTS', KEYS[2])
            redis.call('SET', KEYS[2], '', 'PX', ARGV[3])
            redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
            return 1 + recent
            """
        case .release:
            """
            if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
            redis.call('DEL', KEYS[1])
            redis.call('PUBLISH', ARGV[2], ARGV[3])
            return 1
            """
        }
    }

    private static let readSource = """
        local all = redis.call('HGETALL', KEYS[1])
        if #all == 0 then return all end
        local wanted, newest = ARGV[1], ''
        if wanted == '' then
            for i = 1, #all, 2 do
                local revision = string.sub(all[i + 1], 1, 16)
                if all[i] ~= 'x' and revision > newest then newest = revision; wanted = all[i] end
            end
        end
        local key, body = KEYS[1] .. ':' .. wanted, false
        if redis.call('STRLEN', key) <= tonumber(ARGV[2]) then body = redis.call('GET', key) end
        all[#all + 1] = wanted
        all[#all + 1] = body
        return all
        """

    private static let storeSource = """
        local x = redis.call('HGET', KEYS[1], 'x')
        if (x or '') ~= ARGV[6] then return -1 end
        local old = redis.call('HGET', KEYS[1], ARGV[1])
        local later = old and string.sub(old, 33, 48) or ''
        if later > string.sub(ARGV[2], 33, 48) and later <= ARGV[10] then return -2 end
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
        if count > 1 or had == 1 then redis.call('PUBLISH', ARGV[7], ARGV[8]) end
        return count
        """

    private static let updateSource = """
        local old = redis.call('HGET', KEYS[1], ARGV[1])
        if not old or string.sub(old, 17, 32) ~= ARGV[2] then return 0 end
        for _, variant in ipairs({ARGV[1], ARGV[3]}) do
            local later = string.sub(redis.call('HGET', KEYS[1], variant) or '', 33, 48)
            if later > string.sub(ARGV[4], 33, 48) and later <= ARGV[8] then return -2 end
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
        redis.call('PUBLISH', ARGV[6], ARGV[7])
        return 1
        """
}
