import Foundation
import HTTPCaching
import Synchronizer

// Objects that are stored next to bodies, and bodies that arrive in files.
extension ModelRun {
    private static let names = ["thumbnail", "original"]

    /// Nil for a cache that keeps neither objects nor parts of bodies.
    private var files: SQLiteURLCache? { cache as? SQLiteURLCache }

    // MARK: - Objects

    mutating func keepObject() {
        guard let files, let entry = cache.entries(for: url()).randomElement(using: &random),
            let body = cache.body(of: entry),
            let name = Self.names.randomElement(using: &random)
        else { return }
        let sizes = [1, 300, 4000, 20_000, 70_000]
        let data = Self.body(
            sizes.randomElement(using: &random) ?? 1, 50 + Int.random(in: 0..<50, using: &random))
        files.keepDerivedObject(data, as: name, of: Self.source(of: entry, body))
        if disk > 0 { model.keep(CacheModel.Object(data: data, storedAt: now), as: name, of: entry.response) }
    }

    private static func source(of entry: StoredEntry, _ body: Data) -> DerivedSource {
        DerivedSource(entry: entry.id, checksum: body.withUnsafeBytes { Checksum64.of($0) }, bodySize: body.count)
    }

    func checkObjects(of entry: StoredEntry, _ expected: CacheModel.Stored) throws {
        guard let files else { return }
        for name in Self.names {
            let found = files.derivedObject(name, of: Self.source(of: entry, expected.body))
            // An object of a response that only memory has lives until it would be written.
            if found == nil, expected.isMemoryOnly { continue }
            try Self.require(found == expected.objects[name]?.data, entry.response.url)
        }
    }

    // MARK: - Bodies that arrive

    /// Another piece of a body arrives, the first or the last one, perhaps.
    mutating func arrive() throws {
        guard let files else { return }
        let url = url()
        if Int.random(in: 0..<6, using: &random) == 0 {
            files.removePartials(for: url)
            model.beginnings[url] = nil
            return
        }
        let begun = model.beginnings[url]
        let size = [20_000, 70_000, 300_000].randomElement(using: &random) ?? 0
        let whole = begun?.whole ?? Self.body(size, Int.random(in: 0..<50, using: &random))
        var response = begun?.response ?? response(url)
        let file =
            begun == nil
            ? files.makePartial(for: url, resumable: response, length: whole.count)
            : files.keptPartials(for: url).first?.open()
        guard disk > 0 else { return try Self.require(file == nil, url) }
        guard let file else { throw Mismatch(description: "\(url): there is no file for the body") }
        try Self.require(file.count == begun?.count ?? 0, url)
        let isWhole = Bool.random(using: &random)
        let end = isWhole ? whole.count : Int.random(in: file.count..<whole.count, using: &random)
        try whole[file.count..<end].withUnsafeBytes { try file.append($0) }
        if isWhole {
            (response.requestTime, response.responseTime) = (now, now)  // the rest was requested now
            try Self.require(
                files.store(response, as: Self.cached(url, Data(), .allowed), file: try file.finish()) != nil, url)
            model.store(response, whole, at: now, isMemoryOnly: false)
        } else {
            file.keep()
        }
        model.beginnings[url] =
            isWhole || end == 0 ? nil : CacheModel.Beginning(response: response, whole: whole, count: end)
    }

    func checkBeginning(of url: String) throws {
        guard let files else { return }
        let (found, expected) = (files.keptPartials(for: url), model.beginnings[url])
        try Self.require(found.map(\.count) == (expected.map { [$0.count] } ?? []), url)
        let number = expected?.response.fields["X-Number"]
        try Self.require(found.first?.response.fields["X-Number"] == number, url)
    }
}
