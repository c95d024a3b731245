import Foundation
import ScriptedServer

/// Compressed bodies, made without a compressor.
enum Compressed: String, CaseIterable {
    case gzip, deflate, br, zstd

    /// The text that ``sample`` inflates to.
    static let text = (0..<200).map { "line \($0) of a text that compresses\n" }.joined()

    /// That text, compressed by zlib, Google's brotli and zstd (with a checksum).
    var sample: Data { Data(base64Encoded: Self.samples[self] ?? "") ?? Data() }

    private static let samples: [Compressed: String] = [
        .gzip: """
        H4sIAAAAAAACA43ZS25TQRRF0T6jeEN4p/41nAg5AikQhN1g+IgJsKp/W0uOfXbl4/vPx3Vfn+/X2/V6/Hldr29vr+vr549fvx/P
        5+P55ePfQXRQdFB10HTQdTB0MHWwdLAJZUpahpihZsgZeoagoWhIGpoWmhZ/PmlaaFpoWmhaaFpoWmhaaFppWmla/UdP00rTStNK
        00rTStNK00bTRtNG0+ZvUpo2mjaaNpo2mjaadpp2mnaadpp2/zzRtNO007TTtNN00HTQdNB00HTQdPg3n6aDpoOmg6aTppOmk6aT
        ppOmk6bTQ4qmk6aTpoumi6aLpoumi6aLpoumy+uUpoumm6abppumm6abppumm6abptuT/2Dze/TfXv23Z//t3X97+N9e/ren/+3t
        f3v839Y9SSrrHkTVQVUdZNVBVx2E1UFZHaSV2yqOq5SDYrWu+yoOrLiw4sSKGyuOrLiy4syKOyv14EHAuk6tuLXi2IprK86tuLfi
        4IqLK06utIP3Fuu6uuLsirsrDq+4vOL0itsrjq+4vtIPnrOs6wCLCyxOsLjB4giLKyzOsLjD4hDLOHgttK5bLI6xuMbiHIt7LA6y
        uMjiJIubLPPgMda6zrK4y+Iwi8ssTrO4zeI4i+sszrOsg7du67rQ4kSLGy2OtLjS4kyLOy0OtbjUsg/+lfA/3b/6SZpa6hoAAA==
        """,
        .deflate: """
        eNqN2UtuU0EURdE+o3hDeKf+NZwIOQIpEITdYPiICbCqf1tLjn125eP7z8d1X5/v19v1evx5Xa9vb6/r6+ePX78fz+fj+eXj30F0
        UHRQddB00HUwdDB1sHSwCWVKWoaYoWbIGXqGoKFoSBqaFpoWfz5pWmhaaFpoWmhaaFpoWmhaaVppWv1HT9NK00rTStNK00rTStNG
        00bTRtPmb1KaNpo2mjaaNpo2mnaadpp2mnaadv880bTTtNO007TTdNB00HTQdNB00HT4N5+mg6aDpoOmk6aTppOmk6aTppOm00OK
        ppOmk6aLpoumi6aLpoumi6aLpsvrlKaLppumm6abppumm6abppumm6bbk/9g83v03179t2f/7d1/e/jfXv63p//t7X97/N/WPUkq
        6x5E1UFVHWTVQVcdhNVBWR2kldsqjquUg2K1rvsqDqy4sOLEihsrjqy4suLMijsr9eBBwLpOrbi14tiKayvOrbi34uCKiytOrrSD
        9xbrurri7Iq7Kw6vuLzi9IrbK46vuL7SD56zrOsAiwssTrC4weIIiysszrC4w+IQyzh4LbSuWyyOsbjG4hyLeywOsrjI4iSLmyzz
        4DHWus6yuMviMIvLLE6zuM3iOIvrLM6zrIO3buu60OJEixstjrS40uJMizstDrW41LIP/pXwP92/KU5IZA==
        """,
        .br: """
        G+kaABwJNo52TXoWlkpnpAO8vG0N1wogZW8SxGwOI3YA0vBQEo0sSsIHD9n6M0mS2OrlfefvIPQdXD+NiUAkkSlUGlq6IeKcAaPJ
        bLHa2NI1PoPRZLZYbWzpmp7BaDJbrDa2dM3PYDSZLVYbW7qWZzCazBarjS1d6zMYTWaL1caWrs0zGE1mi9XGlq7tMxhNZovVxpau
        3TMYTWaL1cb2t/cPHwgkCo3B4uDaRTwEEoXGYHFw7SIfAolCY7A4uHZRD4FEoTFYHFy76IdAotAYLA6uXcxDIFFoDBYH1y72IZAo
        NAaLg2sX5yGQKDQGi4NrF/chkCg0BouDaxfvIZAoNAaLg7t6
        """,
        .zstd: """
        KLUv/WTqGXUHALLPJRiAKWkDgNUX8YjA+yFk4iOye6eULn3jWMFWNHcpd1Y0dyl2VjR3KXVWNHcpdFY0dylzVjR3KT8rmrsUnxXN
        XUrPiuYuhWdFc5ciwrOiuUu5s6K5S7GzorlLqbOiuUuhs6K5S5mzorlL+VnR3KX4rGjuUnpWNHfJs6K5S4ADcTgQCgkGCAGjMAwU
        o1ggimEYAghDBnFAUBCAyKgh4Gf/O+A1ljURJAT/f0LQ0X2vTWI2lPFaHd+aeVWN1+r41syrarxWx7dmTp1MQJG1kHk/qrexeX4k
        v6F7fiZvJfN+VKjsTsxjTnOytYYAuwqUqKsy
        """,
    ].mapValues { $0.filter { !$0.isWhitespace } }

    /// Zeros: so many GiB, in the fewest bytes that the coding allows. They are generated while they are sent.
    func bomb(gibibytes: Int) -> [Reply.Piece] {
        switch self {
        case .gzip:
            [
                .bytes(Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])), Self.zeros(gibibytes),
                .bytes(Data([3, 0] + Self.gzipEnd(gibibytes))),
            ]
        case .deflate:
            [.bytes(Data([0x78, 0xDA])), Self.zeros(gibibytes), .bytes(Data([3, 0] + Self.adler(gibibytes)))]
        case .br: Self.brotliZeros(gibibytes)
        case .zstd: Self.zstdZeros(gibibytes: gibibytes)
        }
    }

    /// zstd with a window of 128 KiB: some bytes as they are; blocks of 128 KiB of zeros, each in four bytes; an empty last block.
    static func zstdZeros(gibibytes: Int, after start: Data = Data()) -> [Reply.Piece] {
        let size = start.count << 3
        let stored = Data([UInt8(size & 0xFF), UInt8(size >> 8 & 0xFF), UInt8(size >> 16)]) + start
        return [
            .bytes(Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0x38]) + stored),
            .again([.bytes(Data((0..<1_024).flatMap { _ in [2, 0, 0x10, 0] as [UInt8] }))], times: gibibytes * 8),
            .bytes(Data([1, 0, 0])),
        ]
    }

    /// A mebibyte of zeros as zlib compresses them, ended by a full flush so that it can be repeated: 1,037 bytes.
    private static func zeros(_ gibibytes: Int) -> Reply.Piece {
        let start: [UInt8] = [0xEC, 0xC1, 0x31, 0x01, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 0x08, 0x5F, 0xA0]
        let end: [UInt8] = [0x3E, 0x03, 0, 0, 0xFF, 0xFF]
        let mebibyte = Data(start) + Data(count: 1_016) + Data(end)
        return .again([.bytes(mebibyte)], times: gibibytes << 10)
    }

    /// The checksum and the size of so many zeros; the checksums were made with zlib.
    private static func gzipEnd(_ gibibytes: Int) -> [UInt8] {
        let checksum: UInt32 = [1: 0x5B64_C2B0, 10: 0xF41D_912F][gibibytes] ?? 0
        let size = UInt32(truncatingIfNeeded: gibibytes << 30)
        return [checksum, size].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    }

    private static func adler(_ gibibytes: Int) -> [UInt8] {
        let sum = (gibibytes << 30) % 65_521
        return [UInt8(sum >> 8), UInt8(sum & 0xFF), 0, 1]
    }

    /// Sixteen mebibytes of zeros in 14 bytes: brotli's state is the same from the third time on.
    private static func brotliZeros(_ gibibytes: Int) -> [Reply.Piece] {
        let first: [[UInt8]] = [
            [0xCF, 0xFF, 0xFF, 0x7F, 0xF8, 0x27, 0, 0xE2, 0xB1, 0x40, 0x20, 0xF7, 0xFE, 0xDF, 0],
            [0xFC, 0xFF, 0xFF, 0x87, 0x7F, 0x02, 0x20, 0x0E, 0x0B, 0, 0x74, 0xEF, 0xFF, 0x0D],
            [0xFC, 0xFF, 0xFF, 0x87, 0x7F, 0x02, 0x20, 0x0E, 0x8B, 0, 0x74, 0xEF, 0xFF, 0x0D],
        ]
        return [
            .bytes(Data(first.joined())), .again([.bytes(Data(first[1]))], times: gibibytes * 64 - 3),
            .bytes(Data([3])),
        ]
    }
}
