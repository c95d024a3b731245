#if canImport(Darwin)
    import Foundation
    import os

    /// Shows loads in Instruments: each load as an interval, and its steps as events, in the subsystem “Synchronizer”.
    final class Signposts: SynchronizerObserver {
        private let signposter: OSSignposter
        private let next: (any SynchronizerObserver)?
        private let intervals = Locked<[Int: OSSignpostIntervalState]>([:])

        /// An observer that emits signposts and forwards events, if the program is being recorded; otherwise the other observer
        /// alone, which costs nothing. A recording that starts later shows nothing.
        static func observer(before next: (any SynchronizerObserver)?) -> (any SynchronizerObserver)? {
            // This category is enabled only while a tool such as Instruments records. Others are always enabled.
            let signposter = OSSignposter(subsystem: "Synchronizer", category: .dynamicTracing)
            return signposter.isEnabled ? Signposts(signposter, before: next) : next
        }

        private init(_ signposter: OSSignposter, before next: (any SynchronizerObserver)?) {
            self.signposter = signposter
            self.next = next
        }

        func synchronizerDid(_ event: SynchronizerEvent) {
            mark(event)
            next?.synchronizerDid(event)
        }

        private func mark(_ event: SynchronizerEvent) {
            let url = event.url?.absoluteString ?? ""
            guard let load = event.load else { return markWithoutLoad(event, url: url) }
            if case .queued = event.kind {
                let interval = signposter.beginInterval("Load", id: signposter.makeSignpostID(), "\(url)")
                return intervals.withLock { $0[load] = interval }
            }
            let what = event.kind.clause
            signposter.emitEvent("Step", id: signposter.makeSignpostID(), "\(load): \(what)")
            guard event.kind.isEnd, let interval = intervals.withLock({ $0.removeValue(forKey: load) }) else { return }
            signposter.endInterval("Load", interval, "\(what)")
        }

        private func markWithoutLoad(_ event: SynchronizerEvent, url: String) {
            if case .cached = event.kind {
                return signposter.emitEvent("From memory", id: signposter.makeSignpostID(), "\(url)")
            }
            let what = event.kind.clause
            signposter.emitEvent("Without a load", id: signposter.makeSignpostID(), "\(url): \(what)")
        }
    }

    extension SynchronizerEvent.Kind {
        fileprivate var isEnd: Bool {
            switch self {
            case .finished, .failed, .refused, .cancelled: return true
            default: return false
            }
        }

        /// The event in a few words.
        fileprivate var clause: String {
            switch self {
            case .finished(let trace): return "finished: \(trace)"
            case .failed(let error): return "failed: \(error)"
            case .refused(let error): return "refused: \(error)"
            case .retrying(let error, let delay): return "retried in \(delay) s: \(error)"
            case .redirected(let url): return "redirected to \(url.absoluteString)"
            case .data(let count): return "\(count) B"
            case .stored(let count): return "\(count) B stored"
            case .cached(let source): return "answered by \(source.rawValue)"
            case .parsed(let seconds): return "parsed in \(seconds) s"
            case .response: return "response"
            default: return "\(self)"
            }
        }
    }
#endif
