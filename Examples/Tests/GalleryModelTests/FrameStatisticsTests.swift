import GalleryModel
import Testing

@Suite("Statistics of frames")
struct FrameStatisticsTests {
    @Test("a frame that begins more than 25 ms after the one before is late")
    func late() {
        var frames = FrameStatistics()
        for began in [0, 16_000, 41_000, 66_001] {
            frames.add(began: began, ended: began + 4_000, computed: began / 10)
        }
        #expect(frames.count == 3)
        #expect(frames.late == 1)
        #expect(frames.lateByOwnWork == 0)
    }

    @Test("it is late by the program's own work if the program computed for as long")
    func ownWork() {
        var frames = FrameStatistics()
        frames.add(began: 0, ended: 1, computed: 100)
        frames.add(began: 40_000, ended: 40_001, computed: 30_000)
        #expect(frames.late == 1)
        #expect(frames.lateByOwnWork == 1)
    }

    @Test("after a pause the next frame follows none")
    func pause() {
        var frames = FrameStatistics()
        frames.add(began: 0, ended: 1, computed: 0)
        frames.pause()
        frames.add(began: 1_000_000, ended: 1_000_001, computed: 0)
        #expect(frames.count == 0)
        #expect(frames.late == 0)
    }

    @Test(
        "percentiles are those of the frames that were painted",
        arguments: [(0.5, 50.0), (0.95, 95), (0.99, 99), (1, 100)])
    func percentiles(share: Double, milliseconds: Double) {
        var frames = FrameStatistics()
        for number in 1...100 { frames.add(began: 0, ended: number * 1_000, computed: 0) }
        #expect(frames.painting(percentile: share) == milliseconds)
        #expect(FrameStatistics().painting(percentile: share) == 0)
    }
}
