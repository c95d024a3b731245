import Foundation
import ValkeyCache

/// Prints what a `ValkeyURLCache` keeps on a server.
enum SharedCacheReport {
    struct Unsupported: Error, CustomStringConvertible {
        let description = "This program was built without the trait Valkey: use Scripts/cache."
    }

    #if Valkey && canImport(CHiredis)
        /// Lists the entries, or verifies them. Returns the program's exit status.
        static func print(_ url: String, namespace: String?, verifies: Bool) throws -> Int32 {
            let inspection = try SharedInspection(url, namespace: namespace)
            let contents = try inspection.contents()
            let entries = contents.entries.map(\.entry)
            let size = Words.size(entries.reduce(0) { $0 + $1.bodySize })
            let summary = "\(entries.count) response\(entries.count == 1 ? "" : "s"), \(size) of bodies."
            guard verifies else {
                let items = entries.map { Listing.Item(response: $0.response, bodySize: $0.bodySize, lastUse: nil) }
                for line in Listing(items, at: Date()).lines { Swift.print(line) }
                Swift.print(summary)
                if contents.corrupt > 0 { Swift.print("\(contents.corrupt) more can't be read.") }
                return 0
            }
            var findings = contents.corrupt > 0 ? ["Values that fail their check: \(contents.corrupt)"] : []
            for entry in contents.entries where try inspection.isIntact(entry) == false {
                let url = Words.printable(entry.entry.response.url)
                findings.append("The body of \(url) is missing or corrupt.")
            }
            findings.forEach { Swift.print("✘ \($0)") }
            Swift.print((findings.isEmpty ? "✔ Nothing is corrupt: " : "Looked at ") + summary)
            return findings.isEmpty ? 0 : 1
        }
    #else
        static func print(_ url: String, namespace: String?, verifies: Bool) throws -> Int32 { throw Unsupported() }
    #endif
}
