// How errors travel: their full names and fields.

extension ControlError {
  /// The full name, `io.cairn.Store.StoreNotFound`.
  public var name: String { wire.name }

  /// The fields as they travel.
  public var fields: [String: JSONValue] { wire.fields }

  private var wire: (name: String, fields: [String: JSONValue]) {
    func service(_ name: String, _ fields: [String: JSONValue] = [:]) -> (
      String, [String: JSONValue]
    ) { ("org.varlink.service.\(name)", fields) }
    func daemon(_ name: String, _ fields: [String: JSONValue]) -> (String, [String: JSONValue]) {
      ("io.cairn.Daemon.\(name)", fields)
    }
    func store(_ name: String, _ fields: [String: JSONValue]) -> (String, [String: JSONValue]) {
      ("io.cairn.Store.\(name)", fields)
    }
    func data(_ name: String, _ fields: [String: JSONValue]) -> (String, [String: JSONValue]) {
      ("io.cairn.Data.\(name)", fields)
    }
    func number(_ value: Int) -> JSONValue { .exact(Int64(value)) }
    func texts(_ values: [String]) -> JSONValue { .array(values.map(JSONValue.string)) }
    func guess(_ nearest: String?) -> [String: JSONValue] {
      nearest.map { ["nearest": .string($0)] } ?? [:]
    }

    switch self {
    case .interfaceNotFound(let name):
      return service("InterfaceNotFound", ["interface": .string(name)])
    case .methodNotFound(let name): return service("MethodNotFound", ["method": .string(name)])
    case .methodNotImplemented(let name):
      return service("MethodNotImplemented", ["method": .string(name)])
    case .invalidParameter(let name):
      return service("InvalidParameter", ["parameter": .string(name)])
    case .permissionDenied: return service("PermissionDenied")
    case .expectedMore: return service("ExpectedMore")
    case .messageTooLarge(let limit): return daemon("MessageTooLarge", ["limit": number(limit)])
    case .messageMalformed(let offset, let reason):
      return daemon("MessageMalformed", ["offset": number(offset), "reason": .string(reason)])
    case .busy(let reason): return daemon("Busy", ["reason": .string(reason)])
    case .notReady(let state, let reason):
      return daemon("NotReady", ["state": .string(state), "reason": .string(reason)])
    case .configurationInvalid(let problems):
      return daemon("ConfigurationInvalid", ["problems": texts(problems)])
    case .restartNeeded(let keys): return daemon("RestartNeeded", ["keys": texts(keys)])
    case .internalFailure(let reference):
      return daemon("InternalFailure", ["reference": .string(reference)])
    case .storeNotFound(let name, let nearest):
      return store("StoreNotFound", ["name": .string(name)].merging(guess(nearest)) { $1 })
    case .storeExists(let name, let reason):
      return store("StoreExists", ["name": .string(name), "reason": .string(reason)])
    case .storeUnavailable(let name, let code, let reason):
      return store(
        "StoreUnavailable",
        ["name": .string(name), "code": .string(code), "reason": .string(reason)])
    case .storeInvalid(let name, let field, let reason):
      return store(
        "StoreInvalid", ["name": .string(name), "field": .string(field), "reason": .string(reason)])
    case .modelIncompatible(let name, let reason):
      return store("ModelIncompatible", ["name": .string(name), "reason": .string(reason)])
    case .historyNotThere(let name, let reason, let oldest):
      return store(
        "HistoryNotThere",
        ["name": .string(name), "reason": .string(reason), "oldest": .string(oldest)])
    case .waitTimedOut(let behind, let reason):
      let why: [String: JSONValue] = reason.map { ["reason": .string($0)] } ?? [:]
      return ("io.cairn.Sync.WaitTimedOut", ["behind": texts(behind)].merging(why) { $1 })
    case .entryNotFound(let kind, let id, let reason):
      return (
        "io.cairn.Sync.EntryNotFound",
        ["kind": .string(kind.rawValue), "id": .string(id), "reason": .string(reason)]
      )
    case .notPossible(let code, let reason):
      return ("io.cairn.Sync.NotPossible", ["code": .string(code), "reason": .string(reason)])
    case .invalidPredicate(let text, let position, let reason):
      return data(
        "InvalidPredicate",
        ["text": .string(text), "position": number(position), "reason": .string(reason)])
    case .unknownEntity(let entity, let nearest):
      return data("UnknownEntity", ["entity": .string(entity)].merging(guess(nearest)) { $1 })
    case .unknownProperty(let entity, let property, let nearest):
      let fields: [String: JSONValue] = [
        "entity": .string(entity), "property": .string(property),
      ]
      return data("UnknownProperty", fields.merging(guess(nearest)) { $1 })
    case .invalidValue(let entity, let property, let reason):
      return data(
        "InvalidValue",
        ["entity": .string(entity), "property": .string(property), "reason": .string(reason)])
    case .recordNotFound(let entity, let id):
      return data("RecordNotFound", ["entity": .string(entity), "id": .string(id)])
    case .validationFailed(let problems):
      let list = problems.map { (try? JSONValueEncoder.encode($0)) ?? .null }
      return data("ValidationFailed", ["problems": .array(list)])
    case .saveConflict(let records): return data("SaveConflict", ["records": texts(records)])
    case .importFailed(let line, let reason):
      return data("ImportFailed", ["line": number(line), "reason": .string(reason)])
    case .limitExceeded(let limit, let reason):
      return data("LimitExceeded", ["limit": number(limit), "reason": .string(reason)])
    case .other(let name, let fields): return (name, fields)
    }
  }

  /// Reads an error from a reply; an unknown one becomes ``other(name:fields:)``.
  public init(name: String, fields: [String: JSONValue]) {
    func text(_ key: String) -> String { fields[key]?.stringValue ?? "" }
    func number(_ key: String) -> Int {
      fields[key]?.exactInteger.flatMap { Int(exactly: $0) } ?? 0
    }
    func texts(_ key: String) -> [String] {
      fields[key]?.arrayValue?.compactMap(\.stringValue) ?? []
    }
    switch name {
    case "org.varlink.service.InterfaceNotFound": self = .interfaceNotFound(text("interface"))
    case "org.varlink.service.MethodNotFound": self = .methodNotFound(text("method"))
    case "org.varlink.service.MethodNotImplemented": self = .methodNotImplemented(text("method"))
    case "org.varlink.service.InvalidParameter": self = .invalidParameter(text("parameter"))
    case "org.varlink.service.PermissionDenied": self = .permissionDenied
    case "org.varlink.service.ExpectedMore": self = .expectedMore
    case "io.cairn.Daemon.MessageTooLarge": self = .messageTooLarge(limit: number("limit"))
    case "io.cairn.Daemon.MessageMalformed":
      self = .messageMalformed(offset: number("offset"), reason: text("reason"))
    case "io.cairn.Daemon.Busy": self = .busy(reason: text("reason"))
    case "io.cairn.Daemon.NotReady":
      self = .notReady(state: text("state"), reason: text("reason"))
    case "io.cairn.Daemon.ConfigurationInvalid":
      self = .configurationInvalid(problems: texts("problems"))
    case "io.cairn.Daemon.RestartNeeded": self = .restartNeeded(keys: texts("keys"))
    case "io.cairn.Daemon.InternalFailure": self = .internalFailure(reference: text("reference"))
    case "io.cairn.Store.StoreNotFound":
      self = .storeNotFound(name: text("name"), nearest: fields["nearest"]?.stringValue)
    case "io.cairn.Store.StoreExists":
      self = .storeExists(name: text("name"), reason: text("reason"))
    case "io.cairn.Store.StoreUnavailable":
      self = .storeUnavailable(name: text("name"), code: text("code"), reason: text("reason"))
    case "io.cairn.Store.StoreInvalid":
      self = .storeInvalid(name: text("name"), field: text("field"), reason: text("reason"))
    case "io.cairn.Store.ModelIncompatible":
      self = .modelIncompatible(name: text("name"), reason: text("reason"))
    case "io.cairn.Store.HistoryNotThere":
      self = .historyNotThere(
        name: text("name"), reason: text("reason"), oldest: text("oldest"))
    case "io.cairn.Sync.WaitTimedOut":
      self = .waitTimedOut(behind: texts("behind"), reason: fields["reason"]?.stringValue)
    case "io.cairn.Sync.EntryNotFound":
      self =
        EntryKind(rawValue: text("kind")).map {
          .entryNotFound(kind: $0, id: text("id"), reason: text("reason"))
        } ?? .other(name: name, fields: fields)
    case "io.cairn.Sync.NotPossible":
      self = .notPossible(code: text("code"), reason: text("reason"))
    case "io.cairn.Data.InvalidPredicate":
      self = .invalidPredicate(
        text: text("text"), position: number("position"), reason: text("reason"))
    case "io.cairn.Data.UnknownEntity":
      self = .unknownEntity(entity: text("entity"), nearest: fields["nearest"]?.stringValue)
    case "io.cairn.Data.UnknownProperty":
      self = .unknownProperty(
        entity: text("entity"), property: text("property"),
        nearest: fields["nearest"]?.stringValue)
    case "io.cairn.Data.InvalidValue":
      self = .invalidValue(
        entity: text("entity"), property: text("property"), reason: text("reason"))
    case "io.cairn.Data.RecordNotFound":
      self = .recordNotFound(entity: text("entity"), id: text("id"))
    case "io.cairn.Data.ValidationFailed":
      let problems = fields["problems"]?.arrayValue ?? []
      self = .validationFailed(
        problems: problems.compactMap {
          try? JSONValueDecoder.decode(ValidationProblem.self, from: $0)
        })
    case "io.cairn.Data.SaveConflict": self = .saveConflict(records: texts("records"))
    case "io.cairn.Data.ImportFailed":
      self = .importFailed(line: number("line"), reason: text("reason"))
    case "io.cairn.Data.LimitExceeded":
      self = .limitExceeded(limit: number("limit"), reason: text("reason"))
    default: self = .other(name: name, fields: fields)
    }
  }
}
