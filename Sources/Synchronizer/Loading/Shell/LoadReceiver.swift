/// What a load reports to its subscribers: any number of steps, the last of which is `.finished`.
enum LoadStep: Sendable {
    /// A hook has made the request of the load, and the load begins now. Only for subscribers that want the stored response.
    case prepared(LoadJob)
    case progressed(LoadProgress)
    /// The progress of the load that the subscriber has joined. A newer progress may have been reported before.
    case joined(LoadProgress)
    /// The stored response, while the server is asked.
    case stored(LoadedObject)
    /// An object to show while the body arrives, and the head of its response.
    case previewed(any Sendable, ResponseHead)
    /// The end, reported once unless the subscriber cancels before. Right before it answers its caller, the subscriber calls
    /// `Loader.take` with its ID. It may answer only if `take` returns true.
    case finished(LoadReceiver.ID, LoadResult)
}

/// A subscriber, and the steps that it wants besides the end. Its closure is called on any thread, and must return quickly.
struct LoadReceiver: Sendable {
    /// The machine's ID of the subscriber.
    typealias ID = RecordID

    struct Steps: OptionSet, Sendable {
        let rawValue: UInt8

        static let progress = Steps(rawValue: 1 << 0)
        static let stored = Steps(rawValue: 1 << 1)
        static let previews = Steps(rawValue: 1 << 2)
    }

    let wants: Steps
    /// Whether the load is a prefetch, which no caller waits for yet.
    let isPrefetch: Bool
    /// The load that it subscribes for, if hooks may change its request.
    let hooked: HookedLoad?
    private let receive: @Sendable (LoadStep) -> Void

    init(
        _ wants: Steps = [], isPrefetch: Bool = false, hooked: HookedLoad? = nil,
        receive: @escaping @Sendable (LoadStep) -> Void
    ) {
        self.wants = wants
        self.isPrefetch = isPrefetch
        self.hooked = hooked
        self.receive = receive
    }

    /// Reports a step. Only subscribers that want progress, a stored response or previews get those.
    func report(_ step: LoadStep) {
        switch step {
        case .progressed where !wants.contains(.progress), .joined where !wants.contains(.progress),
            .stored where !wants.contains(.stored),
            .prepared where !wants.contains(.stored), .previewed where !wants.contains(.previews):
            break
        default: receive(step)
        }
    }

    /// Whether it wants steps while the body arrives.
    var isWatching: Bool { wants.contains(.progress) || wants.contains(.previews) }
}
