// What the reader finds in source files: types, and what `@NSManaged` is written before.

package enum AccessLevel: String, Comparable {
  case `private`, `fileprivate`, `internal`, package, `public`, open

  private var rank: Int {
    switch self {
    case .private: return 0
    case .fileprivate: return 1
    case .internal: return 2
    case .package: return 3
    case .public: return 4
    case .open: return 5
    }
  }
  package static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }
  package var isPrivate: Bool { self <= .fileprivate }
}

/// A type declared in a file, or an extension of one.
package struct TypeDeclaration {
  package enum Kind: String {
    case `class`, `struct`, `enum`, actor, `protocol`, `extension`
  }

  package let kind: Kind
  /// Its name with those of the types around it.
  package let path: [String]
  package let access: AccessLevel
  /// The name in Objective-C, of `@objc(Name)`.
  package let objectiveCName: String?
  package let attributes: [String]
  /// What stands after the colon.
  package let inherited: [String]
  package let isGeneric: Bool
  /// Inside a function, where no code outside can name it.
  package let isLocal: Bool
  /// Conditions of `#if` around it.
  package let conditions: [String]
  package let place: SourcePlace
  package internal(set) var managed: [ManagedDeclaration] = []
  /// Other variables of instances, which key paths can lead to.
  package internal(set) var variables: [Variable] = []
  /// Methods without parameters that are marked with `@objc` and have a result.
  package internal(set) var getters: [Variable] = []

  /// The base names of the methods and variables that stand behind `override`, whatever their conditions.
  package internal(set) var overrides: [String] = []
  /// Whether a macro may add members that the reader does not see.
  package internal(set) var hasMacros = false

  package struct Variable {
    package let name: String
    package let access: AccessLevel
    package let conditions: [String]
    /// Whether it stands behind `@objc`.
    package var isMarked = false
    /// The name in `@objc(name)`.
    package var objectiveCName: String?
  }

  /// Whether all members are marked: `@objcMembers class`, `@objc extension`.
  package var marksMembers: Bool {
    attributes.contains("objcMembers") || (kind == .extension && attributes.contains("objc"))
  }

  package var name: String { path.joined(separator: ".") }
}

package struct SourcePlace {
  package let file: String
  package let line: Int
  package let column: Int

  package func problem(_ reason: String) -> SourceProblem {
    SourceProblem(path: file, line: line, column: column, reason: reason)
  }
}

/// A property or method with `@NSManaged`.
package struct ManagedDeclaration {
  package enum Form {
    case property(TypeSyntax)
    case method(parameters: [Parameter], result: TypeSyntax)
  }
  package struct Parameter {
    /// Nil for `_`.
    package let label: String?
    package let type: TypeSyntax
  }

  package let name: String
  package let form: Form
  package let access: AccessLevel
  package let conditions: [String]
  package let place: SourcePlace
}

/// An `import` in a file.
package struct ImportDeclaration: Hashable {
  /// As written, without access level: `@testable import Model`.
  package let text: String
  package let module: String
  package let conditions: [String]
}

/// What one file declares.
package struct FileDeclarations {
  package let path: String
  package internal(set) var types: [TypeDeclaration] = []
  package internal(set) var imports: [ImportDeclaration] = []
  /// Type aliases with the types around them.
  package internal(set) var aliases: [(path: [String], type: TypeSyntax)] = []
}
