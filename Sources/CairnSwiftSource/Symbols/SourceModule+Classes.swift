// Which classes of a module are those of managed objects, and what can be asked of their objects.

extension SourceModule {
  /// A property that a key path can lead to.
  package struct Property {
    package let name: String
    /// Nil for a property without `@NSManaged`.
    package let type: TypeSyntax?
    package let conditions: [String]
  }

  /// Whether a class descends from `NSManagedObject` as far as this module shows, or declares
  /// properties with `@NSManaged`.
  package func isManagedClass(_ type: TypeDeclaration) -> Bool {
    lineage(of: type).contains { one in
      !declarations(of: one).allSatisfy(\.managed.isEmpty)
        || one.inherited.first.map { name in
          ["NSManagedObject", "ManagedObject"].contains(name.split(separator: ".").last ?? "")
        } ?? false
    }
  }

  /// The properties of a class, inherited ones of the same module included, that other files can
  /// name.
  package func properties(of type: TypeDeclaration) -> [Property] {
    var found: [Property] = []
    var seen: Set<String> = []
    for one in lineage(of: type) {
      for declaration in declarations(of: one) {
        for member in declaration.managed where !member.access.isPrivate {
          guard case .property(let written) = member.form, seen.insert(member.name).inserted
          else { continue }
          found.append(
            Property(
              name: member.name, type: written,
              conditions: rest(member.conditions, of: type)))
        }
        for member in declaration.variables
        where !member.access.isPrivate && seen.insert(member.name).inserted {
          found.append(
            Property(
              name: member.name, type: nil, conditions: rest(member.conditions, of: type)))
        }
      }
    }
    return found
  }

  /// A type with the types of this module named in full, for use in another file.
  package func qualified(_ type: TypeSyntax, inside context: [String]) -> TypeSyntax {
    switch type {
    case .named(let path):
      let arguments = path.map { component in
        TypeSyntax.Component(
          component.name, component.arguments.map { qualified($0, inside: context) })
      }
      let full = path.map(\.name).joined(separator: ".")
      for depth in stride(from: context.count, to: 0, by: -1) {
        let outer = Array(context.prefix(depth))
        if knows((outer + [full]).joined(separator: ".")) {
          return .named(outer.map { .init($0) } + arguments)
        }
      }
      return .named(arguments)
    case .optional(let inner): return .optional(qualified(inner, inside: context))
    case .array(let inner): return .array(qualified(inner, inside: context))
    case .dictionary(let key, let value):
      return .dictionary(
        key: qualified(key, inside: context), value: qualified(value, inside: context))
    case .composition(let parts):
      return .composition(parts.map { qualified($0, inside: context) })
    case .void: return .void
    }
  }

  /// The class and its superclasses, as far as they are in this module.
  private func lineage(of type: TypeDeclaration) -> [TypeDeclaration] {
    var line: [TypeDeclaration] = [type]
    while let next = line.last?.inherited.first,
      let parent = self.type(named: next, inside: line.last.map { $0.path.dropLast() } ?? []),
      parent.kind == .class, !line.contains(where: { $0.name == parent.name })
    {
      line.append(parent)
    }
    return line
  }

  /// The declaration of a class and its extensions.
  private func declarations(of type: TypeDeclaration) -> [TypeDeclaration] {
    files.flatMap { file in
      // A private type hides that of another file.
      let isHidden =
        file.path != type.place.file
        && file.types.contains {
          $0.name == type.name && $0.kind != .extension && $0.access.isPrivate
        }
      return isHidden
        ? []
        : file.types.filter { $0.name == type.name && ($0.kind == .class || $0.kind == .extension) }
    }
  }

  /// Whether a declaration, or the class that it extends, is the one that other files can name.
  package func isVisible(_ type: TypeDeclaration) -> Bool {
    guard let found = self.type(named: type.name) else { return true }
    if found.access.isPrivate { return false }
    return !files.contains { file in
      file.path == type.place.file
        && file.types.contains {
          $0.name == type.name && $0.kind != .extension && $0.access.isPrivate
        }
    }
  }

  /// Conditions of a member that are not those of the class.
  private func rest(_ conditions: [String], of type: TypeDeclaration) -> [String] {
    conditions.filter { !type.conditions.contains($0) }
  }
}
