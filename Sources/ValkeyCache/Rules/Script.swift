/// What the server does in one step (Lua). `x` is the field of a removal's token. Offsets in values are those of
/// ``SharedEntry``: 1 to 16 are the revision, 17 to 32 the identifier.
package enum Script: Int, CaseIterable, Sendable {
    /// All entries of a URL, and the body of one: of the variant that is named, or else of the newest entry.
    /// KEYS: entries. ARGV: variant, largest body. Returns fields and values, the variant, and the body or null.
    case read
    /// KEYS: entries, body [, token of the lease].
    /// ARGV: variant, value, body, whether there is a body, milliseconds, expected token of a removal (`?`: any), channel,
    /// message, most variants, token of the lease. Returns how many variants there are; -1 after a removal, -2 after a later lease.
    case store
    /// KEYS: entries, old body, new body [, token of the lease].
    /// ARGV: old variant, identifier, new variant, value, milliseconds, channel, message, token of the lease.
    case update
    /// Removes one entry. KEYS: entries, body. ARGV: variant, identifier, channel, message.
    case remove
    /// Removes all entries of a URL. KEYS: entries. ARGV: token, milliseconds to remember it, channel, message.
    case invalidate
    /// KEYS: generation. ARGV: generation, channel, message.
    case begin
    /// KEYS: lease, token. ARGV: milliseconds, milliseconds to remember the token. Returns the token and that of the lease
    /// before (0 for none), or - milliseconds left.
    case lease
    /// KEYS: lease. ARGV: token, channel, message.
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
            local left = redis.call('PTTL', KEYS[1])
            if left ~= -2 then return left > 0 and -left or -1 end
            local now = redis.call('TIME')
            local last = redis.call('GET', KEYS[2]) or '0'
            local token = math.max(tonumber(last) + 1, now[1] * 1000000 + now[2])
            token = string.format('%.0f', token)
            redis.call('SET', KEYS[2], token, 'PX', ARGV[2])
            redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
            return {token, last}
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
        if ARGV[10] ~= '' and redis.call('GET', KEYS[3]) ~= ARGV[10] then return -2 end
        local x = redis.call('HGET', KEYS[1], 'x')
        if ARGV[6] ~= '?' and (x or '') ~= ARGV[6] then return -1 end
        local had = redis.call('HEXISTS', KEYS[1], ARGV[1])
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
        if ARGV[8] ~= '' and redis.call('GET', KEYS[4]) ~= ARGV[8] then return -2 end
        local old = redis.call('HGET', KEYS[1], ARGV[1])
        if not old or string.sub(old, 17, 32) ~= ARGV[2] then return 0 end
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
