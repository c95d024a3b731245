import TestTraits
import Testing

@testable import Synchronizer

@Suite("A list of few elements", .bounded)
struct FewTests {
    @Test("has what was appended, in order", arguments: 0..<5)
    func order(count: Int) {
        var few = Few<Int>()
        for number in 0..<count { few.append(number) }
        #expect(Array(few) == Array(0..<count))
        #expect(few.count == count && few.isEmpty == (count == 0))
        #expect(few.last == (count == 0 ? nil : count - 1) && few.only == (count == 1 ? 0 : nil))
    }
}
