// Does not compile: without one of the three ways, a type position is ambiguous.
import ImageResource
import SwiftUI

struct Row {
    let thumbnail: ImageResource?
}
