import Foundation
import GTK
import GalleryModel

extension GalleryWindow {
    /// Scrolls there by `step` points per frame, and returns the statistics of the frames.
    @discardableResult
    func scroll(to goal: @escaping @MainActor (PhotographGrid) -> Double, by step: Double) async -> FrameStatistics {
        await move { grid in
            let rest = goal(grid) - grid.scroll
            grid.scroll += max(-step, min(step, rest))
            return abs(rest) > step
        }
    }

    /// Scrolls as after a fling, slower with each frame.
    @discardableResult
    func fling(velocity: Double) async -> FrameStatistics {
        var velocity = velocity
        return await move { grid in
            grid.scroll += velocity
            velocity *= 0.97
            return abs(velocity) > 1 && grid.scroll > 0 && grid.scroll < grid.end
        }
    }

    /// Calls `step` before each frame, until it returns false.
    private func move(_ step: @escaping @MainActor (PhotographGrid) -> Bool) async -> FrameStatistics {
        frames.reset()
        await withCheckedContinuation { continuation in
            grid.root.onTick { [grid] in
                if step(grid) { return true }
                continuation.resume()
                return false
            }
        }
        return frames.statistics
    }
}
