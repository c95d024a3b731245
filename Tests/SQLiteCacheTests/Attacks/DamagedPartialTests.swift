import Foundation
import HTTPCaching
import SynchronizerSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Damaged beginnings of bodies", .bounded)
struct DamagedPartialTests {
    private static let url = "https://example.com/x"
    private static let checkpoints = [500, 700]
    private static let length = 1000

    private let directory = TemporaryDirectory()
    private let body = Sample.body(Self.length, seed: 1)
    private let place: PartialFiles
    private let path: String
    private let recordPath: String
    private let record: Data

    /// Keeps a beginning whose record has two checkpoints.
    init() throws {
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        place = PartialFiles(besides: directory.url.appendingPathComponent("file").path)
        var response = Sample.stored(Self.url)
        response.part = StoredResponse.Part(range: 0..<0, completeLength: Self.length)
        var file: PartialFile? = try PartialFile(in: place, for: Self.url, resumable: response, length: Self.length)
        let name = try #require(file?.name)
        (path, recordPath) = (place.path(name), place.recordPath(name))
        for end in Self.checkpoints {
            if file == nil { file = try #require(place.kept(for: Self.url).first?.open()) }
            try body[(file?.count ?? 0)..<end].withUnsafeBytes { try file?.append($0) }
            file = nil
        }
        record = try Data(contentsOf: URL(fileURLWithPath: recordPath))
    }

    /// How many bytes a load finds with this record; nil if it finds none. They are never wrong.
    private func found(_ record: Data) throws -> Int? {
        try body.prefix(Self.checkpoints[1]).write(to: URL(fileURLWithPath: path))
        try record.write(to: URL(fileURLWithPath: recordPath))
        return try found()
    }

    private func found() throws -> Int? {
        guard let file = place.kept(for: Self.url).first?.open() else { return nil }
        var bytes = Data()
        try file.forEachPiece { bytes.append(contentsOf: $0) }
        #expect(bytes == body.prefix(file.count))
        return file.count
    }

    /// The checkpoints that are whole in so many bytes of the record, the last one of which counts.
    private func last(in count: Int) -> Int? {
        let head = record.count - 2 * 24
        return count < head + 24 ? nil : Self.checkpoints[min((count - head) / 24, 2) - 1]
    }

    @Test("are used up to the last checkpoint that is whole, wherever the record is cut off or has a wrong bit")
    func damagedRecord() throws {
        #expect(try found(record) == Self.checkpoints[1])
        for count in record.indices {
            #expect(try found(record.prefix(count)) == last(in: count), "\(count)")
            var flipped = record
            flipped[count] ^= 0x10
            #expect(try found(flipped) == last(in: count), "\(count)")
        }
    }

    @Test("get checkpoints that count, after a record that was cut short within one")
    func cutShort() throws {
        try body.prefix(Self.checkpoints[1]).write(to: URL(fileURLWithPath: path))
        try record.dropLast(7).write(to: URL(fileURLWithPath: recordPath))
        var file = place.kept(for: Self.url).first?.open()
        #expect(file?.count == Self.checkpoints[0])
        try body[Self.checkpoints[0]..<900].withUnsafeBytes { try file?.append($0) }
        file = nil
        #expect(try found() == 900)
    }

    @Test(
        "are not used if the last checkpoint has a length that the file does not have",
        arguments: [0, 701, 999, 1000, 1001, 1 << 40, UInt64(Int.max)])
    func wrongLength(_ count: UInt64) throws {
        let checksum = body.withUnsafeBytes { Checksum64.of($0) }
        #expect(try found(record + checkpoint(count, checksum)) == nil)
    }

    @Test("are used up to the checkpoint before one whose length is no number")
    func notANumber() throws {
        #expect(try found(record + checkpoint(.max, 0)) == Self.checkpoints[1])
    }

    /// A checkpoint that is whole, whatever it says.
    private func checkpoint(_ count: UInt64, _ checksum: UInt64) -> Data {
        var bytes = Data()
        for number in [count, checksum] { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        let seal = bytes.withUnsafeBytes { Checksum64.of($0) }
        withUnsafeBytes(of: seal.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    @Test("are not used if links are in their place, whose targets stay as they are", arguments: [true, false])
    func links(ofBody: Bool) throws {
        let (replaced, target) = (ofBody ? path : recordPath, directory.url.appendingPathComponent("target").path)
        let content = try Data(contentsOf: URL(fileURLWithPath: replaced))
        #expect(rename(replaced, target) == 0 && symlink(target, replaced) == 0)
        #expect(try found() == nil)
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == content)
    }

    @Test("are not used if the body has another name, through which others may change it")
    func hardLink() throws {
        #expect(link(path, directory.url.appendingPathComponent("other").path) == 0)
        #expect(try found() == nil)
    }
}
