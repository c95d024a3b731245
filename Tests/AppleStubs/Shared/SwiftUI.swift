@_exported import Combine
@_exported import DeveloperToolsSupport
@_exported import Foundation

#if canImport(UIKit)
    import UIKit
#else
    import AppKit
#endif

// SwiftUI

@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public var body: Never { self }
}

public struct EmptyView: View {
    nonisolated public init() {}
    public var body: Never { stubBody() }
}

public struct Image: View, Equatable, Sendable {
    #if canImport(UIKit)
        nonisolated public init(uiImage: UIImage) {}
    #else
        nonisolated public init(nsImage: NSImage) {}
    #endif
    public var body: Never { stubBody() }
}

public struct _ConditionalContent<TrueContent, FalseContent> {
    fileprivate enum Storage {
        case first(TrueContent)
        case second(FalseContent)
    }
    fileprivate let storage: Storage
}

extension _ConditionalContent: View where TrueContent: View, FalseContent: View {
    public var body: Never { stubBody() }
}

extension Optional: View where Wrapped: View {
    public var body: Never { stubBody() }
}

public struct Alignment: Equatable, Sendable {
    public static let center = Alignment()
}

public struct ZStack<Content> {
    nonisolated public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {
        _ = content()
    }
}

extension ZStack: View where Content: View {
    public var body: Never { stubBody() }
}

@resultBuilder
public struct ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content>(_ content: Content) -> Content where Content: View { content }
    public static func buildEither<TrueContent, FalseContent>(
        first: TrueContent
    ) -> _ConditionalContent<TrueContent, FalseContent> where TrueContent: View, FalseContent: View {
        _ConditionalContent(storage: .first(first))
    }
    public static func buildEither<TrueContent, FalseContent>(
        second: FalseContent
    ) -> _ConditionalContent<TrueContent, FalseContent> where TrueContent: View, FalseContent: View {
        _ConditionalContent(storage: .second(second))
    }
}

public struct Animation: Equatable, Sendable {
    public static let `default` = Animation(duration: 0.35)
    public static func easeInOut(duration: TimeInterval) -> Animation { Animation(duration: duration) }
    let duration: TimeInterval
}

public struct Transaction {
    public var animation: Animation?
    public init() {}
    public init(animation: Animation?) { self.animation = animation }
}

public func withTransaction<Result>(_ transaction: Transaction, _ body: () throws -> Result) rethrows -> Result {
    if let animation = transaction.animation { StubAnimations.note(animation.duration) }
    return try body()
}

/// The changes that were animated.
public enum StubAnimations {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var all: [TimeInterval] = []

    static func note(_ duration: TimeInterval) { lock.withLock { all.append(duration) } }

    /// How many took that long.
    public static func count(lasting duration: TimeInterval) -> Int {
        lock.withLock { all.count { $0 == duration } }
    }
}

public protocol DynamicProperty {}

@propertyWrapper
public struct StateObject<ObjectType>: DynamicProperty where ObjectType: ObservableObject {
    private let thunk: () -> ObjectType
    public init(wrappedValue thunk: @autoclosure @escaping () -> ObjectType) { self.thunk = thunk }
    @MainActor @preconcurrency public var wrappedValue: ObjectType { thunk() }
}

public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

public struct EnvironmentValues: CustomStringConvertible {
    private var values: [ObjectIdentifier: Any] = [:]

    public init() {}

    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }

    public var description: String { "" }
}

@propertyWrapper
public struct Environment<Value>: DynamicProperty {
    private let keyPath: KeyPath<EnvironmentValues, Value>
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }
    public var wrappedValue: Value { EnvironmentValues()[keyPath: keyPath] }
}

extension View {
    nonisolated public func environment<V>(
        _ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V
    ) -> some View {
        ModifiedContent<Self, TaskModifier>()
    }
}

public struct Button<Label: View>: View {
    @preconcurrency public init(_ title: String, action: @escaping @MainActor () -> Void) where Label == Text {}
    public var body: Never { stubBody() }
}

@MainActor @preconcurrency
public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder @MainActor @preconcurrency static var previews: Previews { get }
}

public struct ModifiedContent<Content, Modifier> {
    nonisolated fileprivate init() {}
}

extension ModifiedContent: View where Content: View {
    public var body: Never { stubBody() }
}

private struct TaskModifier {}

extension View {
    nonisolated public func task<T>(
        id value: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View where T: Equatable {
        ModifiedContent<Self, TaskModifier>()
    }
}

// Lists, for the samples of the documentation.

@propertyWrapper
public struct State<Value>: DynamicProperty {
    private let value: Value
    public init(wrappedValue: Value) { value = wrappedValue }
    public var wrappedValue: Value {
        get { value }
        nonmutating set {}
    }
}

public struct Text: View {
    nonisolated public init(_ content: String) {}
    public var body: Never { stubBody() }
}

public struct ProgressView: View {
    nonisolated public init() {}
    public var body: Never { stubBody() }
}

public struct Color: View {
    public static let gray = Color()
    public var body: Never { stubBody() }
}

public struct HStack<Content: View>: View {
    nonisolated public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { stubBody() }
}

public struct VStack<Content: View>: View {
    nonisolated public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { stubBody() }
}

public struct List<Content: View>: View {
    nonisolated public init<Data: RandomAccessCollection>(
        _ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Content
    ) where Data.Element: Identifiable {}
    public var body: Never { stubBody() }
}

extension ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildOptional<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildBlock<First: View, Second: View>(_ first: First, _ second: Second) -> some View {
        ModifiedContent<First, Second>()
    }
}

extension Image {
    public init(systemName: String) {}
    public func resizable() -> Image { self }
}

public enum ContentMode: Sendable {
    case fit, fill
}

extension View {
    nonisolated public func frame(
        width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View {
        ModifiedContent<Self, TaskModifier>()
    }

    nonisolated public func aspectRatio(contentMode: ContentMode) -> some View {
        ModifiedContent<Self, TaskModifier>()
    }

    nonisolated public func clipped() -> some View { ModifiedContent<Self, TaskModifier>() }

    nonisolated public func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View {
        ModifiedContent<Self, TaskModifier>()
    }

    nonisolated public func refreshable(action: @escaping @Sendable () async -> Void) -> some View {
        ModifiedContent<Self, TaskModifier>()
    }

    nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View {
        ModifiedContent<Self, TaskModifier>()
    }

    nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
        ModifiedContent<Self, TaskModifier>()
    }
}

private func stubBody() -> Never { preconditionFailure("nothing is drawn here") }
