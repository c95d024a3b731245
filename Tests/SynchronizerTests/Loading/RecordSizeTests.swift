import TestTraits
import Testing

@testable import Synchronizer

@Suite("The records of a load", .bounded)
struct RecordSizeTests {
    @Test("take few bytes, because very many loads may wait")
    func sizes() {
        typealias Machine = Loader.Machine
        let ofShell = [
            MemoryLayout<Loader.LoadRecord?>.stride, MemoryLayout<Loader.ParseRecord?>.stride,
            MemoryLayout<LoadReceiver?>.stride,
        ]
        let ofMachine = [
            MemoryLayout<Machine.Download?>.stride, MemoryLayout<Machine.Parse?>.stride,
            MemoryLayout<Machine.Subscriber?>.stride,
        ]
        #expect(ofShell.reduce(0, +) <= 168, "\(ofShell)")
        #expect(ofMachine.reduce(0, +) <= 180, "\(ofMachine)")
        #expect(MemoryLayout<FetchOptions>.size <= 73)
    }
}
