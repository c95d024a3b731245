# Turns the Swift samples of a Markdown page into one file that the compiler can check: Scripts/check-samples.
#
# Declarations at the left margin go to file scope. The statements of a sample become a function of their own, so that samples
# do not see each other's variables. A comment before a sample says who compiles it:
#   <!-- sample: apple -->   a client for Apple's systems: it may import UIKit and SwiftUI
#   <!-- sample: linux -->   a client for Linux: it may import CurlSession
# `want` is the kind to extract; samples without a comment are of the kind "all".

/^<!-- sample: [a-z]+ -->$/ { kind = $3; next }

/^ *```swift *$/ {
    inside = 1
    wanted = (kind == "" ? "all" : kind) == want
    indent = match($0, /`/) - 1
    kind = ""
    statements = ""
    declaring = 0
    next
}

inside && /^ *```/ {
    inside = 0
    if (wanted && statements != "")
        printf "@MainActor func sample%d() async throws {\n%s}\n", ++samples, statements
    next
}

inside && wanted {
    line = substr($0, indent + 1)
    if (line ~ /^(public )?import /) { print line; next }
    if (!declaring && line ~ /^(@[A-Za-z]+(\([^)]*\))? )*((public|private|fileprivate|final|open|nonisolated) )*(struct|class|enum|actor|protocol|extension|typealias) /) {
        declaring = 1
        depth = 0
        printf "%s", attributes place_text()
        attributes = ""
    }
    if (!declaring && line ~ /^@[A-Za-z]+$/) { attributes = attributes line "\n"; next }
    if (declaring) {
        print line
        depth += gsub(/\{/, "{", line) - gsub(/\}/, "}", line)
        if (depth == 0) declaring = 0
        next
    }
    statements = statements place_text() line "\n"
}

function place_text() { return sprintf("#sourceLocation(file: \"%s\", line: %d)\n", FILENAME, FNR) }
