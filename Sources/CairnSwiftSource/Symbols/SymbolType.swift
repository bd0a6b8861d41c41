/// A type as symbols name it: where it is declared, and what it is.
indirect enum SymbolType: Equatable {
  enum Kind: String {
    case `class` = "C"
    case `struct` = "V"
    case `enum` = "O"
    case `protocol` = "P"
  }
  struct Step: Equatable {
    let name: String
    let kind: Kind
    /// The discriminator of a private type.
    var discriminator: String?
  }

  /// A type with the modules and types around it.
  case nominal(module: String, [Step], arguments: [SymbolType])
  /// One of the standard library's types with a letter: `S` is String.
  case standard(Character, arguments: [SymbolType])
  case optional(SymbolType)
  case any
  case anyObject
  case existential([SymbolType])
  case void

  /// What tells it from other types.
  var key: String {
    switch self {
    case .nominal(let module, let steps, let arguments):
      let path = steps.map { $0.name + ($0.discriminator ?? "") }.joined(separator: ".")
      return "\(module).\(path)<\(arguments.map(\.key).joined(separator: ","))>"
    case .standard(let letter, let arguments):
      return "S\(letter)<\(arguments.map(\.key).joined(separator: ","))>"
    case .optional(let wrapped): return wrapped.key + "?"
    case .any: return "Any"
    case .anyObject: return "AnyObject"
    case .existential(let parts): return parts.map(\.key).joined(separator: "&")
    case .void: return "()"
    }
  }
}

extension SymbolText {
  mutating func append(_ type: SymbolType) {
    switch type {
    case .any: append("yp")
    case .anyObject: append("yXl")
    case .void: append("y" + "t")
    case .optional(let wrapped):
      if appendKnown(type.key) { return }
      append(wrapped)
      append("Sg")
      remember(type.key)
    case .standard(let letter, let arguments):
      if arguments.isEmpty { return appendStandard(letter) }
      if appendKnown(type.key) { return }
      appendStandard(letter)
      append(arguments: arguments)
      remember(type.key)
    case .nominal(let module, let steps, let arguments):
      if arguments.isEmpty { return appendNominal(module, steps) }
      if appendKnown(type.key) { return }
      appendNominal(module, steps)
      append(arguments: arguments)
      remember(type.key)
    case .existential(let protocols):
      if appendKnown(type.key) { return }
      for (number, one) in protocols.enumerated() {
        if case .nominal(let module, let steps, _) = one { appendProtocol(module, steps) }
        if number == 0 { append("_") }
      }
      append("p")
      remember(type.key)
    }
  }

  private mutating func append(arguments: [SymbolType]) {
    append("y")
    for argument in arguments { append(argument) }
    append("G")
  }

  /// A type and those around it.
  mutating func appendNominal(_ module: String, _ steps: [SymbolType.Step]) {
    let key = SymbolType.nominal(module: module, steps, arguments: []).key
    if appendKnown(key) { return }
    appendContext(module, steps.dropLast())
    if let last = steps.last {
      appendDeclared(last.name, last.discriminator)
      append(last.kind.rawValue)
    }
    remember(key)
  }

  private mutating func appendProtocol(_ module: String, _ steps: [SymbolType.Step]) {
    let key = SymbolType.nominal(module: module, steps, arguments: []).key
    if appendKnown(key) { return }
    appendContext(module, steps.dropLast())
    if let last = steps.last { appendDeclared(last.name, last.discriminator) }
    remember(key)
  }

  private mutating func appendContext(_ module: String, _ steps: ArraySlice<SymbolType.Step>) {
    if !steps.isEmpty { return appendNominal(module, Array(steps)) }
    if module == "Swift" { append("s") } else { appendIdentifier(module) }
  }

  /// A declared name; of a private one with its file's discriminator.
  mutating func appendDeclared(_ name: String, _ discriminator: String?) {
    appendIdentifier(name)
    if let discriminator {
      appendIdentifier(discriminator)
      append("LL")
    }
  }
}
