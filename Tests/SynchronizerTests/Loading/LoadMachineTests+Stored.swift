import Testing

@testable import Synchronizer

// The parses of stored responses.
extension LoadMachineTests {
    @Test("a stored response is parsed before the server's, and takes one parse slot")
    func stored() {
        var harness = LoadMachineHarness(limits: Self.narrow)
        harness.subscribe(1)
        let parse = harness.parses.keys[0]
        harness.expectStored(parse)
        harness.fetchEnded(harness.download(1), succeeded: true)
        #expect(harness.runningParses.isEmpty)  // it waits until the stored response has been read
        harness.storedIsRead(parse)
        #expect(harness.runningStored == [parse])
        #expect(harness.runningParses.isEmpty)
        harness.storedEnded(parse)
        #expect(harness.runningParses == [parse])
        harness.drain()
        #expect(harness.violations.isEmpty)
    }

    @Test("a failure comes after the stored response that is about to be shown, but a time-out at once")
    func storedBeforeFailure() {
        for isOverdue in [false, true] {
            var harness = LoadMachineHarness(limits: Self.narrow)
            let (shown, other) = (harness.subscribe(1), harness.subscribe(1, parse: "small"))
            let (parse, download) = (harness.parses.keys[0], harness.download(1))
            harness.expectStored(parse)
            harness.storedIsRead(parse)
            harness.fetchEnded(download, succeeded: false)
            #expect(harness.delivered == [other])
            let later = harness.subscribe(1)
            #expect(harness.downloads.count == 2)  // no load coalesces with one that has failed
            if isOverdue { harness.fail(download) } else { harness.storedEnded(parse) }
            #expect(harness.delivered == [other, shown])
            #expect(harness.downloads.count == 1)
            if isOverdue { harness.storedEnded(parse) }
            harness.drain()
            #expect(harness.delivered == [other, shown, later])
            #expect(harness.violations.isEmpty)
        }
    }

    @Test("the parse of a stored response waits behind more urgent ones, and is cancelled with the last subscriber")
    func storedWaits() {
        var harness = LoadMachineHarness(
            limits: .init(lookups: 3, network: .init(total: 3, perHost: 3), parses: 1))
        harness.subscribe(1, .high)
        harness.fetchEnded(harness.download(1), succeeded: true)
        let follower = harness.subscribe(2)
        let parse = harness.parses.keys[1]
        harness.expectStored(parse)
        harness.storedIsRead(parse)
        #expect(harness.runningStored.isEmpty)
        harness.parseEnded(harness.runningParses[0])
        #expect(harness.runningStored == [parse])
        harness.unsubscribe(follower)
        harness.subscribe(3)
        harness.fetchEnded(harness.download(3), succeeded: true)
        #expect(harness.runningParses.isEmpty)  // an abandoned parse holds its slot until it ends
        harness.storedEnded(parse)
        #expect(harness.runningParses.count == 1)
        harness.drain()
        #expect(harness.violations.isEmpty)
    }
}
