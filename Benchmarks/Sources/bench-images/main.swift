import Foundation
import Measuring

let arguments = CommandLine.arguments
if arguments.count > 3, arguments[1] == "--decode" {
    try DecodingProcess.run(arguments[2], arguments[3])
    exit(0)
}
