// The description of an interface in Varlink's language, and what can be read from it.

/// An interface: its text, and the names of its methods, parameters and errors.
public struct InterfaceDescription: Sendable, Hashable {
  /// The text that introspection gives.
  public let text: String
  /// The name, `io.cairn.Daemon`.
  public let name: String
  /// The methods by their short names.
  public let methods: [Method]
  /// The short names of the errors and of their fields.
  public let errors: [Declaration]
  /// The types that methods and errors use.
  public let types: [Declaration]

  /// A name with the names in the parentheses behind it.
  public struct Declaration: Sendable, Hashable {
    public let name: String
    public let fields: [Field]
  }

  /// A named, typed value.
  public struct Field: Sendable, Hashable {
    public let name: String
    /// The type as written, `?[]string`.
    public let type: String
    /// Whether it may be left out.
    public var isOptional: Bool { type.hasPrefix("?") }

    public init(name: String, type: String) {
      self.name = name
      self.type = type
    }
  }

  /// A method with what goes in and out.
  public struct Method: Sendable, Hashable {
    public let name: String
    public let parameters: [Field]
    public let results: [Field]
  }

  /// An interface of these methods.
  ///
  /// - Parameter methods: Those of other interfaces are left out.
  public init(_ outline: InterfaceOutline, methods: [any ControlMethod.Type]) {
    let own = methods.filter { $0.interface == outline.name }
    var parts = ["\(outline.about)\ninterface \(outline.name)"]
    // Methods share types; each is declared where it is needed first.
    for declaration in own.flatMap({ $0.declarations }) + outline.errors
    where !parts.contains(declaration) {
      parts.append(declaration)
    }
    self.init(text: parts.joined(separator: "\n\n"))
  }

  init(text: String) {
    var reader = InterfaceReader(text: text)
    var name = ""
    var methods: [Method] = []
    var errors: [Declaration] = []
    var types: [Declaration] = []
    while let word = reader.nextWord() {
      switch word {
      case "interface": name = reader.nextWord() ?? ""
      case "type":
        types.append(Declaration(name: reader.nextWord() ?? "", fields: reader.fields()))
      case "error":
        errors.append(Declaration(name: reader.nextWord() ?? "", fields: reader.fields()))
      case "method":
        let method = reader.nextWord() ?? ""
        let parameters = reader.fields()
        methods.append(Method(name: method, parameters: parameters, results: reader.fields()))
      default: break
      }
    }
    self.text = text + "\n"
    self.name = name
    self.methods = methods
    self.errors = errors
    self.types = types
  }
}

/// Every interface of the daemon, made of its methods.
public struct ServiceDescription: Sendable, Hashable {
  public let interfaces: [InterfaceDescription]

  public init(methods: [any ControlMethod.Type]) {
    interfaces = InterfaceOutline.all.map { InterfaceDescription($0, methods: methods) }
  }

  /// The interface with that name.
  public func interface(named name: String) -> InterfaceDescription? {
    interfaces.first { $0.name == name }
  }

  /// The method with that full name.
  public func method(named fullName: String) -> InterfaceDescription.Method? {
    guard let dot = fullName.lastIndex(of: ".") else { return nil }
    let short = fullName[fullName.index(after: dot)...]
    return interface(named: String(fullName[..<dot]))?.methods.first { $0.name == short }
  }
}

/// Reads the words of our own descriptions; not a checker of foreign ones.
private struct InterfaceReader {
  private var characters: Substring

  init(text: String) {
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    characters = Substring(lines.joined(separator: "\n"))
  }

  /// The next run of letters, digits and dots; skips anything else.
  mutating func nextWord() -> String? {
    characters = characters.drop { !Self.isWord($0) }
    guard !characters.isEmpty else { return nil }
    let word = characters.prefix(while: Self.isWord)
    characters = characters.dropFirst(word.count)
    return String(word)
  }

  /// The fields between the next parentheses; those of inner parentheses stay in the type.
  mutating func fields() -> [InterfaceDescription.Field] {
    characters = characters.drop { $0 != "(" }.dropFirst()
    var depth = 1
    var parts: [String] = [""]
    while depth > 0, let character = characters.popFirst() {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      if depth == 0 { break }
      if character == ",", depth == 1 {
        parts.append("")
      } else if !character.isWhitespace {
        parts[parts.count - 1].append(character)
      }
    }
    return parts.compactMap { part in
      guard let colon = part.firstIndex(of: ":") else { return nil }
      return .init(name: String(part[..<colon]), type: String(part[part.index(after: colon)...]))
    }
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "."
  }
}
