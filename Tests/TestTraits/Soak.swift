import Foundation

/// How long the tests go on that search at random. Usually they take a share of what they could try. `Scripts/test --soak` makes
/// them take everything; it sets `SYNCHRONIZER_SOAK`, and so can you.
public enum Soak {
    /// The seconds for which the tests that never run out of work go on; 0 without a soak.
    public static let seconds = ProcessInfo.processInfo.environment["SYNCHRONIZER_SOAK"].flatMap(Double.init) ?? 0

    /// Whether this is a soak.
    public static var isOn: Bool { seconds > 0 }

    /// A number of attempts.
    public static func count(_ usual: Int, inSoak all: Int) -> Int { isOn ? all : usual }
}
