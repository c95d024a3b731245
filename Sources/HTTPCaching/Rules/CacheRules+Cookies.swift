// What credentials and cookies do to the key of a stored response: which of them a later request must repeat to get it.
extension CacheRules {
    /// Whether the field's value always selects a response. That of `Cookie` does not always.
    package static func alwaysBinds(_ name: String) -> Bool {
        isCredential(name) && !HTTPFields.same(name, FieldName.cookie)
    }

    /// Credentials always bind, and so does a `Cookie` that the caller sets. Cookies from a cookie storage change with most
    /// responses of many servers: they bind only responses that are `private`.
    static func bindingCredentials(of request: CacheRequest, facts: ResponseFacts) -> [String] {
        let bindsCookie = request.fields.contains(FieldName.cookie) || facts.control.contains(.isPrivate)
        let names = (request.fields.lines + request.sessionHeaders.lines).map(\.name)
        let binding = names.filter(alwaysBinds)
        return bindsCookie ? binding + [FieldName.cookie] : binding
    }
}
