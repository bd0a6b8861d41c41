/// The symbols that a program expects behind a `@NSManaged` declaration.
package struct AccessorSymbols {
  private let module: SourceModule
  private let steps: [SymbolType.Step]
  private let context: [String]
  private let imports: [String]

  /// - Parameter type: the class, or the extension of one of the same module.
  /// - Returns: Nil for a class whose declaration is not in the module.
  package init?(_ type: TypeDeclaration, in module: SourceModule, imports: [String]) {
    guard let declaration = module.type(named: type.name), let steps = module.steps(to: declaration)
    else { return nil }
    self.module = module
    self.steps = steps
    self.imports = imports
    context = declaration.path
  }

  /// Getter and setter of a property; several pairs where a type could be of several modules.
  package func accessors(of declaration: ManagedDeclaration) -> [(getter: String, setter: String)] {
    guard case .property(let written) = declaration.form else { return [] }
    return types(written).map { type in
      var symbol = begun(declaration)
      symbol.append(type)
      return (symbol.text + "vg", symbol.text + "vs")
    }
  }

  /// The symbols of a method.
  package func methods(of declaration: ManagedDeclaration) -> [String] {
    guard case .method(let parameters, let result) = declaration.form else { return [] }
    var lists = types(result).map { [$0] }
    for parameter in parameters {
      let choices = types(parameter.type)
      lists = lists.flatMap { list in choices.map { list + [$0] } }
    }
    return lists.map { list in
      var symbol = begun(declaration)
      if parameters.contains(where: { $0.label != nil }) {
        for parameter in parameters {
          if let label = parameter.label {
            symbol.appendIdentifier(label)
          } else {
            symbol.append("_")
          }
        }
      } else if !parameters.isEmpty {
        symbol.append("y")
      }
      if let first = list.first { symbol.appendResult(first) }
      let isPlain = parameters.count == 1 && parameters[0].label == nil
      for (number, type) in list.dropFirst().enumerated() {
        symbol.append(type)
        if number == 0, !isPlain { symbol.append("_") }
      }
      if parameters.isEmpty { symbol.append("y") } else if !isPlain { symbol.append("t") }
      return symbol.text + "F"
    }
  }

  private func types(_ written: TypeSyntax) -> [SymbolType] {
    module.symbolTypes(written, inside: context, imports: imports)
  }

  private func begun(_ declaration: ManagedDeclaration) -> SymbolText {
    var symbol = SymbolText()
    symbol.appendNominal(module.name, steps)
    // Inside a private type everything is private to the file already.
    let isPrivate =
      declaration.access.isPrivate && !steps.contains { $0.discriminator != nil }
    symbol.appendDeclared(
      declaration.name,
      isPrivate ? module.discriminator(ofFile: declaration.place.file) : nil)
    return symbol
  }
}

extension SymbolText {
  fileprivate mutating func appendResult(_ type: SymbolType) {
    if type == .void { append("y") } else { append(type) }
  }
}
