// Which way the folders of the big targets point: each folder may use those above it in its list, none
// below.

import Foundation
import Testing

/// The decision page OrderOfFolders.
@Suite struct FolderOrderTests {
  /// The folders of one target in their order, and what does not keep to it.
  struct Order: Sendable {
    /// From the bottom: a folder may use itself and those before it.
    let folders: [String]
    /// Files that may use every folder and that every folder may use, each with the reason.
    ///
    /// Files outside of folders are such files too.
    var doors: [String: String] = [:]
    /// What a file uses although it stands in a later folder, by the file, with the reason.
    var exceptions: [String: (names: Set<String>, reason: String)] = [:]
  }

  @Test(arguments: orders.keys.sorted())
  func everyFolderHasItsPlace(target: String) throws {
    let order = try #require(Self.orders[target])
    let folders = Set(Self.files(of: target).compactMap(\.folder))
    #expect(folders == Set(order.folders), "put the folder where it belongs in the order")
    #expect(Set(order.folders).count == order.folders.count)
  }

  @Test(arguments: orders.keys.sorted())
  func noFolderUsesALaterOne(target: String) throws {
    let order = try #require(Self.orders[target])
    let files = Self.files(of: target)
    let arrows = try Self.arrows(in: files, order)
    for (path, names) in arrows.sorted(by: { $0.key < $1.key }) {
      for (name, home) in names.sorted(by: { $0.key < $1.key }) {
        #expect(
          order.exceptions[path]?.names.contains(name) == true,
          "\(target)/\(path) uses \(name) of \(home), which stands later in the order")
      }
    }
    #expect(
      arrows.mapValues { Set($0.keys) } == order.exceptions.mapValues(\.names),
      "the exceptions name arrows that are gone")
  }

  /// What stands at the end of the order, the doors do not know either.
  @Test func theContextKnowsNeitherResultsNorStoresOfAProgramsOwn() {
    let files = Self.files(of: "CairnContext")
    let above = files.filter { ["ObjectStores", "Results"].contains($0.folder) }
    #expect(!above.isEmpty)
    let types = Set(above.flatMap(\.types))
    for file in files where file.folder == nil || file.path == "Objects/ManagedObject.swift" {
      let known = file.words.intersection(types)
      #expect(known.isEmpty, "\(file.path) knows \(known)")
    }
  }

  /// The names that each file uses although they stand in a later folder, with the files that declare
  /// them: types, and members that a file adds to a type of another one.
  private static func arrows(
    in files: [FolderFile], _ order: Order
  ) throws -> [String: [String: String]] {
    let rank = Dictionary(uniqueKeysWithValues: order.folders.enumerated().map { ($1, $0) })
    /// Where names are declared whose meaning is certain: those of one file alone.
    func homes(_ names: KeyPath<FolderFile, Set<String>>) -> [String: String] {
      var homes: [String: [String]] = [:]
      for file in files {
        for name in file[keyPath: names] { homes[name, default: []].append(file.path) }
      }
      return homes.compactMapValues { $0.count == 1 ? $0.first : nil }
    }
    let (types, members) = (homes(\.types), homes(\.members))
    let added = Dictionary(
      uniqueKeysWithValues: files.flatMap { file in
        file.addedMembers.filter { members[$0] == file.path }.map { ($0, file.path) }
      })
    var arrows: [String: [String: String]] = [:]
    for file in files {
      guard order.doors[file.path] == nil, let own = file.folder.flatMap({ rank[$0] }) else {
        continue
      }
      func note(_ name: String, _ home: String?) {
        guard let home, order.doors[home] == nil,
          let other = folder(of: home).flatMap({ rank[$0] }),
          other > own
        else { return }
        arrows[file.path, default: [:]][name] = home
      }
      for name in file.words { note(name, types[name]) }
      for name in file.usedMembers { note(name, added[name]) }
    }
    try #require(!types.isEmpty && !added.isEmpty, "the test sees no declarations")
    return arrows
  }

  private static func files(of target: String) -> [FolderFile] { read[target] ?? [] }
  private static let read = Dictionary(
    uniqueKeysWithValues: orders.keys.map { target in
      (
        target,
        SourceTree.sources.filter { $0.target == target }.map { FolderFile($0, target: target) }
      )
    })

  fileprivate static func folder(of path: String) -> String? {
    path.contains("/") ? path.split(separator: "/").first.map(String.init) : nil
  }
}

/// What one file declares and uses.
private struct FolderFile {
  /// From the target's folder.
  let path: String
  /// Nil for a file that stands in the target's folder itself.
  var folder: String? { FolderOrderTests.folder(of: path) }
  /// Types that stand in no other type.
  private(set) var types: Set<String> = []
  /// All words of the code.
  private(set) var words: Set<String> = []
  /// All members of types that are not private.
  private(set) var members: Set<String> = []
  /// Those of them that extend a type of another file.
  private(set) var addedMembers: Set<String> = []
  /// Words after a dot, and those that are called.
  private(set) var usedMembers: Set<String> = []

  private static let typeWords: Set<String> = [
    "class", "struct", "enum", "protocol", "typealias", "actor",
  ]
  private static let memberWords: Set<String> = ["func", "var", "let", "case"]

  init(_ source: SourceFile, target: String) {
    path = String(source.path.dropFirst("Sources/\(target)/".count))
    var extended: String?
    var isPrivate = false
    for (_, line) in source.code {
      let depth = line.prefix { $0 == " " }.count
      let tokens = CodeLine(line).tokens
      if depth == 0 {
        let names = tokens.map(\.text)
        if let place = names.firstIndex(where: Self.typeWords.contains), place + 1 < names.count,
          !names[..<place].contains("extension"), !names[..<place].contains("import")
        {
          types.insert(names[place + 1])
          extended = nil
        } else if let place = names.firstIndex(of: "extension"), place + 1 < names.count {
          extended = names[place + 1]
          isPrivate = names[..<place].contains("private") || names[..<place].contains("fileprivate")
        }
      } else if depth <= 4,
        let place = tokens.firstIndex(where: { Self.memberWords.contains($0.text) }),
        place + 1 < tokens.count
      {
        let before = tokens[..<place].map(\.text)
        members.insert(tokens[place + 1].text)
        let isHidden = isPrivate || before.contains("private") || before.contains("fileprivate")
        if depth == 2, let extended, !types.contains(extended), !isHidden {
          addedMembers.insert(tokens[place + 1].text)
        }
      }
      for token in tokens {
        words.insert(token.text)
        if token.follows == "." || token.precedes == "(" { usedMembers.insert(token.text) }
      }
    }
  }
}

/// The words of one line of code, without its literals and its comment.
private struct CodeLine {
  struct Token {
    let text: String
    /// The character before the word and the one after it.
    let follows: Character?
    let precedes: Character?
  }
  private(set) var tokens: [Token] = []

  init(_ line: String) {
    let bytes = Array(line.utf8)
    var index = 0
    var before: UInt8?
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
          index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index += 1
        before = byte
        continue
      }
      if byte == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == byte { return }
      guard Self.isLetter(byte) else {
        before = byte
        index += 1
        continue
      }
      let start = index
      while index < bytes.count, Self.isLetter(bytes[index]) { index += 1 }
      tokens.append(
        Token(
          text: String(decoding: bytes[start..<index], as: UTF8.self),
          follows: before.map { Character(Unicode.Scalar($0)) },
          precedes: index < bytes.count ? Character(Unicode.Scalar(bytes[index])) : nil))
      before = bytes[index - 1]
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      return true
    default: return byte >= 128
    }
  }
}
