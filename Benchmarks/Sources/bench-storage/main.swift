import Measuring

// What SQLiteURLCache costs: bench-storage [--rows WORD] [--json FILE]
var report = try Report("storage")
for measure in storageRows { report.add(try measure()) }
try report.finish()
