import Synchronizer

/// The ways in which a load is started.
enum LoadWay: CaseIterable {
    case load, loaded, onMainActor, onQueue, task, updates, follow, prefetchToMemory, prefetchToDisk

    var isPrefetch: Bool { self == .prefetchToMemory || self == .prefetchToDisk }

    /// Returns the last object; nil for a prefetch.
    func load<R: Resource>(_ resource: R, with synchronizer: Synchronizer) async throws -> R.ParsedObject? {
        switch self {
        case .load: return try await synchronizer.load(resource)
        case .loaded: return try await synchronizer.loaded(resource).object
        case .onMainActor: return try await answer { synchronizer.loadResource(resource, completion: $0) }
        case .onQueue: return try await answer { synchronizer.loadResource(resource, on: .global(), completion: $0) }
        case .task:
            return try await answer { completion in _ = synchronizer.startLoading(resource) { completion($0) } }
        case .updates:
            var last: R.ParsedObject?
            for try await update in synchronizer.updates(of: resource) { last = update.object }
            return last
        case .follow:
            return try await withCheckedThrowingContinuation { continuation in
                synchronizer.followResource(resource) { step in
                    if case .success(let update) = step, !update.phase.isLast { return }
                    continuation.resume(with: step.map(\.object).mapError { $0 as any Error })
                }
            }
        case .prefetchToMemory, .prefetchToDisk:
            synchronizer.prefetch([resource], to: self == .prefetchToDisk ? .disk : .memory)
            return nil
        }
    }

    private func answer<Object: Sendable>(
        _ begin: (@escaping @Sendable (SynchronizerResult<Object>) -> Void) -> Void
    ) async throws -> Object? {
        try await withCheckedThrowingContinuation { continuation in
            begin { result in
                switch result {
                case .success(let object): continuation.resume(returning: object)
                case .noData: continuation.resume(returning: nil)
                case .error(let error): continuation.resume(throwing: error)
                }
            }
        }
    }
}
