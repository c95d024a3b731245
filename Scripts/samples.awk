# Turns the Swift samples of a Markdown page into one file that the compiler can check: Scripts/check-samples.
#
# Declarations at the left margin go to file scope. The statements of a sample become a function of their own, so that samples
# do not see each other's variables. A comment before a sample says who compiles it:
#   <!-- sample: apple -->      a client for Apple platforms: it may import UIKit and SwiftUI
#   <!-- sample: linux -->      a client for Linux: it may import CurlSession
#   <!-- sample: manifest -->   a part of Package.swift
#   <!-- recipe: NAME -->       a part of a program in Examples/Recipes, which Scripts/recipes compiles and runs
# `want` is the kind to extract; samples without a comment are of the kind "all".

# If the page is a Swift file, the samples are those in its comments that begin with `///`.

# Maps the next line to its source, for the compiler's messages.
function place() { return sprintf("#sourceLocation(file: \"%s\", line: %d)\n", FILENAME, FNR) }

FILENAME ~ /\.swift$/ && !sub(/^ *\/\/\/ ?/, "") { next }

# Scripts/recipes compiles these.
/^<!-- recipe: [A-Za-z]+ -->$/ {
    kind = "recipe"
    next
}

/^<!-- sample: [a-z]+ -->$/ {
    kind = $3
    next
}

/^ *```swift *$/ {
    inside = 1
    wanted = (kind == "" ? "all" : kind) == want
    margin = match($0, /`/) - 1
    kind = statements = attributes = ""
    declaring = continuing = 0
    next
}

inside && /^ *```/ {
    inside = 0
    if (wanted && statements != "")
        printf "@MainActor func sample%d() async throws {\n%s}\n", ++samples, statements
    next
}

inside && wanted {
    line = substr($0, margin + 1)
    if (line ~ /^import /) {
        print line
        next
    }
    if (!declaring && line ~ /^@[A-Za-z]+$/) {
        attributes = attributes line "\n"
        next
    }
    if (!declaring && line ~ /^(@[A-Za-z]+(\([^)]*\))? )*((public|private|final|open|nonisolated) )*(struct|class|enum|actor|protocol|extension|func) /) {
        declaring = 1
        depth = continuing = 0
        printf "%s%s", place(), attributes
        attributes = ""
    }
    if (declaring) {
        print line
        depth += gsub(/\{/, "{", line) - gsub(/\}/, "}", line)
        if (depth == 0 && line ~ /\}/) declaring = 0
        next
    }
    statements = statements (continuing++ ? "" : place()) line "\n"
}
