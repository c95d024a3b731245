import Dispatch

// What Dispatch has on Apple's systems only, with the signatures that it has there.
extension DispatchSource {
    struct MemoryPressureEvent: OptionSet, Sendable {
        let rawValue: UInt
        static let warning = MemoryPressureEvent(rawValue: 2)
        static let critical = MemoryPressureEvent(rawValue: 4)
    }

    static func makeMemoryPressureSource(eventMask: MemoryPressureEvent, queue: DispatchQueue?)
        -> any DispatchSourceMemoryPressure
    {
        preconditionFailure("\(eventMask) is to be type-checked, not run, on \(String(describing: queue))")
    }
}

protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {}
