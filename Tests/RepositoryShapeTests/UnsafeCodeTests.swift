// Where a mistake can damage memory: in the folders called Unsafe, and in few files beside them.

import Testing

/// The decision page UnsafeCode.
@Suite struct UnsafeCodeTests {
  /// What the compiler does not check: how long an object lives, of which class it is, what memory
  /// holds, whether two changes overlap.
  ///
  /// Not among them: pointers that a call hands on to C or copies from, such as those of `withUnsafeBytes`. They end
  /// with the call.
  static let tricks = [
    "Unmanaged", "unsafeBitCast", "unsafeDowncast", "@exclusivity(unchecked)", "unowned(unsafe)",
    "_withUnsafeGuaranteedRef", "bindMemory(", "assumingMemoryBound(", "withMemoryRebound(",
    "initializeMemory(", "loadUnaligned(", "storeBytes(", ".load(as:", ".load(fromByteOffset:",
    "Pointer(bitPattern:", "Pointer.allocate(", "Pointer<CChar>.allocate(", ".deallocate()",
  ]

  /// Files outside of the folders, with what they may use and the reason.
  ///
  /// A stored property stands in its class, and the attribute stands on the property.
  static let exceptions: [String: (tricks: Set<String>, reason: String)] = [
    "Sources/CairnContext/Objects/ManagedObject.swift": (
      ["@exclusivity(unchecked)"], "what every access to an object reads or changes"
    ),
    "Sources/CairnContext/Objects/ObjectExtras.swift": (
      ["@exclusivity(unchecked)"], "parts of an object that few objects have"
    ),
    "Sources/CairnContext/ManagedObjectContext.swift": (
      ["@exclusivity(unchecked)"], "the parts that each change of an object goes through"
    ),
    "Sources/CairnContext/Graph/ObjectRegistry.swift": (
      ["@exclusivity(unchecked)"], "each change of an object keeps the object alive there"
    ),
    "Sources/CairnModel/Values/ManagedObjectID.swift": (
      ["@exclusivity(unchecked)"], "an ID is asked for its key for each row"
    ),
    "Sources/CairnModel/Model/EntityDescription.swift": (
      ["@exclusivity(unchecked)"], "an entity is asked for its layout for each row"
    ),
  ]

  private static func isInFolder(_ file: SourceFile) -> Bool { file.path.contains("/Unsafe/") }

  @Test func itStandsInFoldersOfItsOwn() {
    var used: [String: Set<String>] = [:]
    for file in SourceShapeTests.sources where !Self.isInFolder(file) {
      for (number, text) in file.code {
        for trick in Self.tricks where text.contains(trick) {
          used[file.path, default: []].insert(trick)
          #expect(
            Self.exceptions[file.path]?.tricks.contains(trick) == true,
            "\(file.path):\(number) uses \(trick): move it into the folder Unsafe of its module")
        }
        #expect(
          !Self.keepsPointer(text),
          "\(file.path):\(number) keeps a pointer: move it into the folder Unsafe of its module")
      }
    }
    #expect(used == Self.exceptions.mapValues(\.tricks), "the exceptions name what is gone")
  }

  /// Whether a line declares a stored property that is a pointer to memory.
  ///
  /// Not a handle of C, which only C looks into.
  private static func keepsPointer(_ line: String) -> Bool {
    guard line.contains(": Unsafe"), !line.hasSuffix("{") else { return false }
    let words = line.split(separator: " ")
    guard let place = words.firstIndex(where: { $0 == "let" || $0 == "var" }),
      place + 2 < words.count, words[place + 1].hasSuffix(":"),
      words[place + 2].hasPrefix("Unsafe"), words[place + 2].contains("Pointer")
    else { return false }
    // Deeper ones are local, unless they say who may see them.
    return line.prefix { $0 == " " }.count == 2 || place > 0
  }

  @Test func theFoldersHoldNothingElse() {
    let files = SourceShapeTests.sources.filter(Self.isInFolder)
    #expect(files.count > 15, "the rule looks at the wrong folder")
    for file in files {
      let isUnsafe = file.code.contains { _, text in
        Self.tricks.contains(where: text.contains) || Self.keepsPointer(text)
          || text.contains("Pointer")
      }
      #expect(isUnsafe, "\(file.path) does nothing unsafe: move it out")
    }
  }

  /// Each such file says why memory stays whole, before the code: in the comment of its type or beside
  /// the line.
  @Test func exclusivityIsArguedFor() {
    for file in SourceShapeTests.sources {
      let attributes = file.code.filter { $0.text.contains("@exclusivity(unchecked)") }
      guard let first = attributes.first else { continue }
      #expect(
        file.lines[..<(first.number - 1)].contains {
          $0.contains("//") && $0.contains("`@exclusivity(unchecked)`")
        } || file.isExplained(line: first.number),
        "\(file.path) does not say why changes cannot overlap")
    }
  }
}
