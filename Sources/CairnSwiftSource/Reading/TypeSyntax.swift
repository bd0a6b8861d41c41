/// A type as it is written in source, in the forms that properties of managed objects have.
package indirect enum TypeSyntax: Equatable, CustomStringConvertible {
  /// A name with its path and generic arguments: `Outer.Box<Item>`.
  case named([Component])
  case optional(TypeSyntax)
  case array(TypeSyntax)
  case dictionary(key: TypeSyntax, value: TypeSyntax)
  /// `any A & B`, or one protocol after `any`.
  case composition([TypeSyntax])
  /// Nothing, as a result.
  case void

  package struct Component: Equatable {
    package let name: String
    package let arguments: [TypeSyntax]
    package init(_ name: String, _ arguments: [TypeSyntax] = []) {
      self.name = name
      self.arguments = arguments
    }
  }

  /// Swift source again.
  package var description: String {
    switch self {
    case .named(let path):
      return path.map { component in
        let arguments = component.arguments.map(\.description).joined(separator: ", ")
        return component.name + (arguments.isEmpty ? "" : "<\(arguments)>")
      }.joined(separator: ".")
    case .optional(let wrapped):
      if case .composition = wrapped { return "(\(wrapped))?" }
      return "\(wrapped)?"
    case .array(let element): return "[\(element)]"
    case .dictionary(let key, let value): return "[\(key): \(value)]"
    case .composition(let parts):
      return "any " + parts.map(\.description).joined(separator: " & ")
    case .void: return "Void"
    }
  }
}

/// Reads a type from tokens.
struct TypeReader {
  let source: SwiftText
  private(set) var index: Int

  init(_ source: SwiftText, at index: Int) {
    self.source = source
    self.index = index
  }

  private var token: SwiftToken? { index < source.tokens.count ? source.tokens[index] : nil }
  private func isSymbol(_ text: String) -> Bool { token?.isSymbol(text) ?? false }

  private func refuse(_ what: String) -> SourceProblem {
    let offset = token?.range.lowerBound ?? source.bytes.count
    return source.problem(at: offset, what)
  }

  private mutating func expect(_ symbol: String) throws {
    guard isSymbol(symbol) else { throw refuse("expected \(symbol) in the type") }
    index += 1
  }

  /// The type that begins here; afterwards `index` is behind it.
  mutating func type() throws -> TypeSyntax {
    while isSymbol("@"), index + 1 < source.tokens.count { index += 2 }
    var result = try single()
    if isSymbol("&") {
      var parts = [result]
      if case .composition(let first) = result { parts = first }
      while isSymbol("&") {
        index += 1
        parts.append(try single())
      }
      result = .composition(parts)
    }
    return result
  }

  private mutating func single() throws -> TypeSyntax {
    var result = try base()
    // An operator that follows directly; `?` after a space is not part of the type.
    while let next = token, next.isSymbol("?") || next.isSymbol("!"), index > 0,
      source.tokens[index - 1].range.upperBound == next.range.lowerBound
    {
      result = .optional(result)
      index += 1
    }
    return result
  }

  private mutating func base() throws -> TypeSyntax {
    guard let first = token else { throw refuse("the type is missing") }
    if first.isSymbol("[") {
      index += 1
      let element = try type()
      if isSymbol(":") {
        index += 1
        let value = try type()
        try expect("]")
        return .dictionary(key: element, value: value)
      }
      try expect("]")
      return .array(element)
    }
    if first.isSymbol("(") {
      index += 1
      if isSymbol(")") {
        index += 1
        return .void
      }
      let inner = try type()
      guard isSymbol(")") else {
        throw refuse("tuples and functions are no types of managed properties")
      }
      index += 1
      if isSymbol("->") { throw refuse("functions are no types of managed properties") }
      return inner
    }
    guard first.kind == .identifier else { throw refuse("this type cannot be read") }
    if first.text == "any" {
      index += 1
      let inner = try single()
      if case .optional(let wrapped) = inner { return .optional(.composition([wrapped])) }
      return .composition([inner])
    }
    if ["some", "inout", "borrowing", "consuming"].contains(first.text) {
      throw refuse("\(first.text) is not possible in the type of a managed property")
    }
    return try path()
  }

  private mutating func path() throws -> TypeSyntax {
    var components: [TypeSyntax.Component] = []
    while true {
      guard let name = token, name.kind == .identifier else {
        throw refuse("this type cannot be read")
      }
      index += 1
      var arguments: [TypeSyntax] = []
      if isSymbol("<") {
        repeat {
          index += 1
          arguments.append(try type())
        } while isSymbol(",")
        try expect(">")
      }
      components.append(.init(name.text, arguments))
      guard isSymbol(".") else { break }
      index += 1
    }
    if components.count > 1, components[0] == .init("Swift") { components.removeFirst() }
    switch components.first?.name {
    case "Optional" where components.count == 1 && components[0].arguments.count == 1:
      return .optional(components[0].arguments[0])
    case "Array" where components.count == 1 && components[0].arguments.count == 1:
      return .array(components[0].arguments[0])
    case "Dictionary" where components.count == 1 && components[0].arguments.count == 2:
      return .dictionary(key: components[0].arguments[0], value: components[0].arguments[1])
    case "Void" where components.count == 1: return .void
    default: return .named(components)
    }
  }
}
