import TestTraits
import Testing

@testable import ValkeyCache

@Suite("The URL of a server", .bounded)
struct AddressTests {
    @Test(
        "names the place, the user, the password and the database",
        arguments: [
            ("redis://localhost", ServerAddress.Place.host("localhost", port: 6379), nil, nil, 0),
            ("redis://127.0.0.1:7000/3", .host("127.0.0.1", port: 7000), nil, nil, 3),
            ("valkey://[::1]:7000", .host("::1", port: 7000), nil, nil, 0),
            ("redis://:secret@h/", .host("h", port: 6379), nil, "secret", 0),
            ("redis://app:p%40ss%2F@h:1/15", .host("h", port: 1), "app", "p@ss/", 15),
            ("REDIS://h", .host("h", port: 6379), nil, nil, 0),
            ("unix:///run/valkey.sock", .socket("/run/valkey.sock"), nil, nil, 0),
            ("unix://app:pw@/run/v.sock?db=2", .socket("/run/v.sock"), "app", "pw", 2),
        ] as [(String, ServerAddress.Place, String?, String?, Int)])
    func parts(_ url: String, _ place: ServerAddress.Place, _ user: String?, _ password: String?, _ database: Int)
        throws
    {
        let address = try ServerAddress(url)
        #expect(address.place == place)
        #expect(address.user == user)
        #expect(address.password == password)
        #expect(address.database == database)
        #expect(!address.name.contains("secret"))
    }

    @Test(
        "that names none is an error which does not show the password",
        arguments: [
            "", "localhost", "redis://", "redis://:6379", "redis://h:0", "redis://h:65536", "redis://h/x",
            "redis://h/-1",
            "redis://h/0?db=3", "redis://h?x=1", "redis://h%00x", "redis://h/%00", "unix:///run/v%00.sock",
            "unix:///run/v.sock?database=3", "redis://user@h", "unix://run/v.sock", "unix://", "http://h",
            "redis://u:secret@h:99999",
        ])
    func wrong(_ url: String) {
        let error = #expect(throws: ValkeyURLError.self) { try ServerAddress(url) }
        #expect(error?.description.contains("secret") == false)
    }

    @Test("with TLS is an error of its own", arguments: ["rediss://h", "rediss://u:p@h:6380/1"])
    func tls(_ url: String) {
        #expect(throws: ValkeyURLError.tlsUnavailable) { try ServerAddress(url) }
    }
}

@Suite("Keys", .bounded)
struct KeyspaceTests {
    @Test(
        "have the slots that CLUSTER KEYSLOT gives them",
        arguments: [
            ("", 0), ("foo", 12_182), ("bar", 5061), ("123456789", 12_739), ("{user1000}.following", 3443),
            ("{user1000}.followers", 3443), ("foo{}{bar}", 8363), ("foo{{bar}}zap", 4015), ("foo{bar}{zap}", 5061),
        ])
    func slots(_ key: String, _ slot: Int) {
        #expect(ClusterSlot.of(key) == slot)
    }

    @Test("of one URL are in one slot, and differ by namespace, generation and URL; channels also differ by database")
    func keys() {
        let (one, other) = (Keyspace(namespace: "a", database: 0), Keyspace(namespace: "b", database: 0))
        let second = Keyspace(namespace: "a", database: 1)
        let url = URLDigest("https://example.com/")
        let key = one.entries(of: url, in: "1")
        #expect(ClusterSlot.of(key) == ClusterSlot.of(key + ":body"))
        #expect(ClusterSlot.of(one.lease("x")) == ClusterSlot.of(one.recent("x")))
        let all = [
            key, one.entries(of: url, in: "2"), other.entries(of: url, in: "1"),
            one.entries(of: URLDigest("https://example.com/2"), in: "1"), one.generation, other.generation,
            one.lease("x"),
            one.recent("x"), one.releases("x"), second.releases("x"), one.changes, second.changes,
        ]
        #expect(Set(all).count == all.count)
    }
}
