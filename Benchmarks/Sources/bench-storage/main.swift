import Measuring

// What SQLiteURLCache costs: bench-storage [--rows WORD] [--json FILE]
var report = try Report("storage")

/// Groups that are measured together, with words that their rows' names and yardsticks have.
let groups: [(words: String, rows: () throws -> [Row])] = [
    ("lookup on disk, with its HTTPURLResponse, body alone", LookUpRows.disk),
    ("lookup on disk, 500 entries, stock URLCache on disk", LookUpRows.stockOnDisk),
    ("lookup in memory", LookUpRows.memory),
    ("4 threads looking up", LookUpRows.threads),
    ("store, as the caller sees it", StoreRows.asCallerSees),
    ("store, until it is in the file, sustained", StoreRows.sustained),
    ("1 MB body", { try LargeBodyRows.rows(1) }),
    ("8 MB body", { try LargeBodyRows.rows(8) }),
    (
        "lookup among 100,000 entries, lookup among 1,000,000 entries, miss, open with 100,000 entries",
        { [report] in try ScaleRows.rows(report) }
    ),
    ("peers: hishel, requests-cache, OkHttp", { [report] in try PeerRows.rows(report) }),
]
for group in groups where report.isWanted(group.words) {
    for row in try group.rows() { report.add(row) }
}
try report.finish()
