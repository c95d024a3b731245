#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("The size of an SVG", .bounded)
    struct SVGHeaderTests {
        private func size(_ text: String) -> [Int]? {
            ImageHeader(Data(text.utf8)).map { [$0.pixelWidth, $0.pixelHeight] }
        }

        @Test(
            "a length is in CSS pixels, rounded up",
            arguments: [
                ("96", 96), ("96px", 96), ("48PX", 48), ("0.5", 1), ("96.2", 97), ("72pt", 96), ("6pc", 96),
                ("1in", 96),
                ("1IN", 96), ("25.4mm", 96), ("2.54cm", 96), ("5.08cm", 192), ("1.27cm", 48), ("12.7cm", 480),
                ("127mm", 480), ("10cm", 378), ("100mm", 378), (" 12px ", 12), ("40Q", 300), ("2em", 300), ("50%", 300),
            ])
        func units(_ length: String, _ pixels: Int) {
            #expect(size("<svg width=\"\(length)\" height=\"7\"/>") == [pixels, 7])
        }

        @Test(
            "the root element is read as XML",
            arguments: [
                #"<!-- <svg width="1" height="1"> --><svg width="40" height="20">"#,
                #"<?xml version="1.0"?><?a <svg width="1" height="1"> ?><svg width="40" height="20"/>"#,
                #"<!DOCTYPE svg PUBLIC "-//<svg width='1'>" "a>b"><svg width="40" height="20"/>"#,
                """
                <!DOCTYPE svg [<!ENTITY a "<svg width='1'>]>"> <!-- it's <svg --> <?b ]> ?> <!ENTITY c ']'>]>
                <svg width="40" height="20"/>
                """,
                #"<svg aria-label="a > b" width="40" height='20'/>"#,
                #"<svg title="a width='1' b" width = "40" height= "20" />"#,
                "<svg\n\txmlns=\"http://www.w3.org/2000/svg\"\nwidth=\"40\"\r\nheight=\"20\"></svg>",
                #"<svg stroke-width="1" width="40" x-height="1" height="20"><rect width="3" height="3"/></svg>"#,
                "\u{FEFF}<svg width='40' height='20'/>", "<svg:svg width='40' height='20'/>",
                #"<svg viewBox="0 0 80 40" width="40"/>"#, #"<svg style="width: 40px; height:20PX"/>"#,
                #"<svg style="fill:red;width:40px;height:20px" width="80" height="90"/>"#,
                #"<svg style="width:100%;height:auto" width="40" height="20"/>"#,
            ])
        func root(_ text: String) {
            #expect(size(text) == [40, 20])
        }

        @Test(
            "a file whose root is something else is no SVG",
            arguments: [
                "<!-- <svg width='1' height='1'/> -->", "<html><svg width='1' height='1'/></html>", "<svgz width='1'/>",
                "<!DOCTYPE svg [ <svg width='1'/>", "<?xml <svg width='1'/>", "text <svg width='1'/>", "<", "",
            ])
        func otherRoots(_ text: String) {
            #expect(size(text) == nil)
        }

        @Test("a tag that is cut off has the attributes before the cut")
        func cut() {
            #expect(size("<svg width='40' height='20' title='") == [40, 20])
            #expect(size("<svg width='40' height='2") == [40, 150])
            #expect(size("<svg") == [300, 150])
        }

        #if SVG && canImport(CRSVG)
            /// The width and the height of what is opaque at the left top.
            private func drawn(_ text: String, _ sizing: ImageSizing = .stored) throws -> [Int] {
                let image = try BitmapImage.decode(Data(text.utf8), sizing: sizing)
                return image.withUnsafeBytes { bytes in
                    func isOpaque(_ x: Int, _ y: Int) -> Bool { bytes[(y * image.width + x) * 4 + 3] > 127 }
                    return [
                        (0..<image.width).first { !isOpaque($0, 0) } ?? image.width,
                        (0..<image.height).first { !isOpaque(0, $0) } ?? image.height,
                    ]
                }
            }

            private func file(_ attributes: String, _ rectangle: String) -> String {
                "<svg xmlns=\"http://www.w3.org/2000/svg\" \(attributes)><rect \(rectangle) fill=\"#f00\"/></svg>"
            }

            @Test("an inch is 96 pixels in the drawing, too")
            func inches() throws {
                #expect(try drawn(file("width='200' height='120'", "width='25.4mm' height='1in'")) == [96, 96])
                #expect(try drawn(file("width='50.8mm' height='25.4mm'", "width='96' height='48'")) == [96, 48])
            }

            @Test(
                "the drawing fills the size at every scale",
                arguments: [
                    "width='40' height='20'", "width='40PX' height='20Px'", "style='width:40px;height:20px'",
                    "style='width:40px;height:20px' width='80' height='80'",
                ])
            func scaled(_ attributes: String) throws {
                let text = file(attributes, "width='20' height='10'")
                #expect(try drawn(text) == [20, 10])
                #expect(try drawn(text, .maxPixelSize(20)) == [10, 5])
            }

            @Test(
                "a drawing that fills its size is opaque at every scale, whatever the rounded aspect ratio",
                arguments: [("300", "200", 47), ("1000", "3", 100), ("96.2", "10", 0), ("200", "10.4", 31)])
            func opaqueEdges(_ width: String, _ height: String, _ side: Int) throws {
                let text = file("width='\(width)' height='\(height)'", "width='100%' height='100%'")
                let image = try BitmapImage.decode(Data(text.utf8), sizing: .maxPixelSize(side))
                let isFilled = image.withUnsafeBytes { bytes in
                    bytes.elementsEqual(repeatElement([0, 0, 255, 255], count: bytes.count / 4).joined())
                }
                #expect(isFilled)
            }

            @Test("a drawing that is too long for cairo is smaller")
            func long() throws {
                let image = try BitmapImage.decode(Data(file("width='65534' height='40'", "width='9' height='9'").utf8))
                #expect(image.width == 32_767 && image.height == 20)
            }
        #endif
    }
#endif
