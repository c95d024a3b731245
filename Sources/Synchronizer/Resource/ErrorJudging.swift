/// A resource that knows which errors of its parse say nothing about the bytes: a limit, too little memory, or code of the app
/// that failed after the decode.
package protocol ErrorJudging: Resource {
    /// Whether the body is at fault, so that its stored response must not answer later loads.
    func blamesBody(for error: any Error) -> Bool
}
