import CFuzzer
import Foundation

/// Feeds one target with what libFuzzer makes up: FUZZ_TARGET names it, the arguments are libFuzzer's.
@main
enum Fuzzing {
    static func main() {
        guard let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"], let target = Target(rawValue: name) else {
            print("FUZZ_TARGET is one of", Target.allCases.map(\.rawValue).joined(separator: ", "))
            exit(2)
        }
        Target.chosen = target
        Target.setLimits()
        var (count, arguments) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { bytes, size in
                Target.chosen.run(UnsafeRawBufferPointer(start: bytes, count: size))
                return 0
            })
    }
}
