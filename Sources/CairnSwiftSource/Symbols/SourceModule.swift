import Crypto
import Foundation

/// The sources of one module, and what the types in them are.
package struct SourceModule {
  package let name: String
  package let files: [FileDeclarations]
  private var types: [String: TypeDeclaration] = [:]
  private var aliases: [String: TypeSyntax] = [:]

  package init(name: String, files: [FileDeclarations]) {
    self.name = name
    self.files = files
    for file in files {
      for type in file.types where type.kind != .extension && !type.isLocal {
        // Only its own file can name a private one.
        if type.access.isPrivate, types[type.name] != nil { continue }
        types[type.name] = type
      }
      for alias in file.aliases { aliases[alias.path.joined(separator: ".")] = alias.type }
    }
  }

  /// The declaration of a type, by its name with the types around it.
  package func type(named name: String) -> TypeDeclaration? { types[name] }

  /// Whether a type or an alias has this name.
  func knows(_ name: String) -> Bool { types[name] != nil || aliases[name] != nil }

  /// The declaration that a name means inside a type.
  package func type(
    named name: String, inside context: some RandomAccessCollection<String>
  ) -> TypeDeclaration? {
    for depth in stride(from: context.count, through: 0, by: -1) {
      let full = (context.prefix(depth) + [name]).joined(separator: ".")
      if let type = types[full] { return type }
      if case .named(let path)? = aliases[full], let first = path.first, path.count == 1,
        first.name != name
      {
        return type(named: first.name, inside: Array(context.prefix(depth)))
      }
    }
    return nil
  }

  /// What marks private names of a file in symbols.
  func discriminator(ofFile path: String) -> String {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    let hash = Insecure.MD5.hash(data: Data((name + file).utf8))
    return "_" + hash.map { String(format: "%02X", $0) }.joined()
  }

  // MARK: Types of symbols

  /// The steps to a type of this module.
  func steps(to declaration: TypeDeclaration) -> [SymbolType.Step]? {
    var result: [SymbolType.Step] = []
    for depth in 1...declaration.path.count {
      let path = declaration.path.prefix(depth).joined(separator: ".")
      guard let type = types[path] else { return nil }
      let kind: SymbolType.Kind
      switch type.kind {
      case .class, .actor: kind = .class
      case .struct: kind = .struct
      case .enum: kind = .enum
      case .protocol: kind = .protocol
      case .extension: return nil
      }
      result.append(
        .init(
          name: type.path.last ?? "", kind: kind,
          discriminator: type.access.isPrivate ? discriminator(ofFile: type.place.file) : nil))
    }
    return result
  }

  /// What a written type can be in symbols.
  ///
  /// More than one where its name is of another module whose sources are not at hand: it may be a
  /// class, a structure or an enumeration of each module that the file imports.
  func symbolTypes(
    _ type: TypeSyntax, inside context: [String], imports: [String], depth: Int = 0
  ) -> [SymbolType] {
    guard depth < 8 else { return [] }
    func all(_ type: TypeSyntax) -> [SymbolType] {
      symbolTypes(type, inside: context, imports: imports, depth: depth + 1)
    }
    switch type {
    case .void: return [.void]
    case .optional(let wrapped): return all(wrapped).map { .optional($0) }
    case .array(let element): return all(element).map { .standard("a", arguments: [$0]) }
    case .dictionary(let key, let value):
      return all(key).flatMap { key in
        all(value).map { .standard("D", arguments: [key, $0]) }
      }
    case .composition(let parts):
      let protocols = parts.compactMap { part -> SymbolType? in
        if case .existential(let inner)? = all(part).first { return inner.first }
        return nil
      }
      guard protocols.count == parts.count else { return [] }
      return [.existential(protocols.sorted { $0.key < $1.key })]
    case .named(let path): return named(path, context, imports, depth)
    }
  }

  private func named(
    _ path: [TypeSyntax.Component], _ context: [String], _ imports: [String], _ depth: Int
  ) -> [SymbolType] {
    var path = path
    // `Foundation.Date`
    if path.count > 1, let first = path.first,
      first.name == name || first.name == "Swift" || imports.contains(first.name),
      types[first.name] == nil
    {
      path.removeFirst()
    }
    let full = path.map(\.name)
    let written = full.joined(separator: ".")
    for outer in stride(from: context.count, through: 0, by: -1) {
      let candidate = (context.prefix(outer) + full).joined(separator: ".")
      if let declaration = types[candidate], let steps = steps(to: declaration) {
        return withArguments(
          .nominal(module: name, steps, arguments: []), path, context, imports, depth)
      }
      if let alias = aliases[candidate] {
        return symbolTypes(
          alias, inside: Array(context.prefix(outer)), imports: imports, depth: depth + 1)
      }
    }
    if let known = KnownTypes.type(named: written) {
      return withArguments(known, path, context, imports, depth)
    }
    // Unknown: a class that is generated from a model of this target, or of a module that the file
    // imports.
    let generated = SymbolType.nominal(
      module: name, full.map { SymbolType.Step(name: $0, kind: .class) }, arguments: [])
    let modules = imports.flatMap { $0 == "Foundation" ? [$0, "FoundationEssentials"] : [$0] }
    let kinds: [SymbolType.Kind] = [.class, .struct, .enum]
    let imported = modules.flatMap { module in
      kinds.map { kind in
        let steps = full.enumerated().map { number, name in
          SymbolType.Step(name: name, kind: number == full.count - 1 ? kind : .class)
        }
        return SymbolType.nominal(module: module, steps, arguments: [])
      }
    }
    return ([generated] + imported).flatMap { withArguments($0, path, context, imports, depth) }
  }

  private func withArguments(
    _ type: SymbolType, _ path: [TypeSyntax.Component], _ context: [String], _ imports: [String],
    _ depth: Int
  ) -> [SymbolType] {
    if case .nominal(_, let steps, _) = type, steps.last?.kind == .protocol {
      return [.existential([type])]
    }
    guard let written = path.last?.arguments, !written.isEmpty else { return [type] }
    var lists: [[SymbolType]] = [[]]
    for argument in written {
      let choices = symbolTypes(argument, inside: context, imports: imports, depth: depth + 1)
      lists = lists.flatMap { list in choices.map { list + [$0] } }
    }
    return lists.map { arguments in
      switch type {
      case .standard(let letter, _): return .standard(letter, arguments: arguments)
      case .nominal(let module, let steps, _):
        return .nominal(module: module, steps, arguments: arguments)
      case .optional, .any, .anyObject, .existential, .void: return type
      }
    }
  }
}
