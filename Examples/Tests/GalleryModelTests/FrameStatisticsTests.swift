import GalleryModel
import Testing

@Suite struct FrameStatisticsTests {
    @Test("a frame that begins more than 25 ms after the one before is late")
    func late() {
        var frames = FrameStatistics()
        for began in [0, 16_000, 41_000, 66_001] as [Int] { frames.add(began: began, ended: began + 4_000) }
        #expect(frames.count == 3)
        #expect(frames.late == 1)
    }
}
