import Foundation
import Yardsticks
let scratch = try Scratch()
let n = 2000
let reqs = try Fixture.requests(n)
let dir = try scratch.path("cache"), files = try scratch.path("files")
let cache = Fixture.cache(dir)
let t = try nanoseconds { try Fixture.fill(cache, reqs, bodySize: Fixture.bodySize) }
print("fill", t / Double(n) / 1000)
_ = yardstick_write_files(files, Int32(n), Int32(Fixture.bodySize))
for _ in 0..<40 { _ = try Fixture.lookUp(cache, reqs, bodySize: Fixture.bodySize) }
let c = try Comparison {
    try Fixture.lookUp(cache, reqs, bodySize: Fixture.bodySize)
} against: {
    Double(yardstick_read_files(files, Int32(n), Int32(n), Int32(Fixture.bodySize))) / Double(n)
}
print(c)
