// Which credentials and cookies bind a stored response: it answers only requests that repeat them.
extension CacheRules {
    /// Whether the field always binds the response to a request: a credential other than `Cookie`.
    package static func alwaysBinds(_ name: String) -> Bool {
        isCredential(name) && !HTTPFields.same(name, FieldName.cookie)
    }

    /// The names of the fields that bind a response: all credentials, and a `Cookie` that the caller sets. Many servers change
    /// the cookies in a cookie storage with most responses, so these bind only responses that are `private`.
    static func bindingCredentials(of request: CacheRequest, facts: ResponseFacts) -> [String] {
        let bindsCookie = request.fields.contains(FieldName.cookie) || facts.control.contains(.isPrivate)
        let names = (request.fields.lines + request.sessionHeaders.lines).map(\.name)
        let binding = names.filter(alwaysBinds)
        return bindsCookie ? binding + [FieldName.cookie] : binding
    }
}
