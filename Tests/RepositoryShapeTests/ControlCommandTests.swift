// A control method is a message, a handler, a subcommand and a golden file, and nothing else.

import Foundation
import Testing

/// The page AddingAControlCommand.
@Suite struct ControlCommandTests {
  /// A message as its file declares it.
  struct Message: CustomTestStringConvertible {
    /// The Swift type, such as `SyncNow`.
    let type: String
    /// The name on the wire.
    let name: String
    let role: String?
    let file: SourceFile

    var testDescription: String { name }

    /// Whether it belongs to introspection, which `varlinkctl` asks for.
    var isForTools: Bool { name.hasPrefix("org.varlink.") }
  }

  static let sources = SourceTree.sources
  static let messages: [Message] = sources.filter {
    $0.path.hasPrefix("Sources/CairnControl/Commands/")
  }.flatMap { file -> [Message] in
    var found: [Message] = []
    var type: String?
    var name: String?
    for (_, line) in file.code {
      if let match = line.firstMatch(of: /public enum (\w+): ControlMethod/) {
        type = String(match.output.1)
        name = nil
      }
      if let match = line.firstMatch(of: /static let name = "([\w.]+)"/) {
        name = String(match.output.1)
      }
      if let match = line.firstMatch(of: /static let role = ControlRole\.(\w+)/), let type, let name
      {
        found.append(Message(type: type, name: name, role: String(match.output.1), file: file))
      }
    }
    return found
  }

  /// The files that name a type as a value, such as `SyncNow.self`, by the type.
  private static let uses: [String: [SourceFile]] = {
    var uses: [String: [SourceFile]] = [:]
    for file in sources {
      let names = file.code.flatMap { line in
        line.text.components(separatedBy: ".self").dropLast().map { before in
          String(String(before.reversed().prefix { $0.isLetter || $0.isNumber }).reversed())
        }
      }
      for name in Set(names) { uses[name, default: []].append(file) }
    }
    return uses
  }()

  private func files(under folder: String, naming type: String) -> [SourceFile] {
    (Self.uses[type] ?? []).filter { $0.path.hasPrefix(folder) }
  }

  @Test func theMessagesAreFound() {
    let declared = Self.sources.flatMap(\.code).count { $0.text.contains(": ControlMethod {") }
    #expect(Self.messages.count == declared, "each message has a name and then a role")
    #expect(Self.messages.count > 14)
  }

  @Test(arguments: messages) func aMessageDeclaresItsMethod(_ message: Message) {
    let short = message.name.split(separator: ".").last.map(String.init) ?? ""
    #expect(
      message.file.lines.contains { $0.contains("method \(short)(") },
      "\(message.file.path): declarations without \"method \(short)(\"")
    #expect(message.role != "none", "\(message.file.path): a role that everybody has")
  }

  @Test(arguments: messages) func aMessageHasOneHandler(_ message: Message) {
    let handlers = files(under: "Sources/CairnDaemon/", naming: message.type)
    #expect(
      handlers.count == 1 && handlers.allSatisfy { $0.path.contains("/Control/Handlers/") },
      "\(message.type): a handler in one file of Sources/CairnDaemon/Control/Handlers, not \(handlers.map(\.path))"
    )
  }

  @Test(arguments: messages.filter { !$0.isForTools })
  func aMessageHasASubcommandThatIsListed(_ message: Message) {
    let callers = files(under: "Sources/cairnctl/", naming: message.type)
    #expect(!callers.isEmpty, "\(message.type): no file of Sources/cairnctl calls it")
    for caller in callers {
      for (_, line) in caller.code {
        guard let match = line.firstMatch(of: /struct (\w+Command): \w*ParsableCommand/) else {
          continue
        }
        #expect(
          !files(under: "Sources/cairnctl/", naming: String(match.output.1)).isEmpty,
          "\(match.output.1) stands in no list of subcommands")
      }
    }
  }

  private static let goldenFolder = "Tests/CairnDaemonTests/Golden"
  /// The calls that golden files show, such as `> org.example.Method {`.
  private static let goldenCalls = Set(
    SourceTree.files(under: goldenFolder).compactMap { SourceTree.text(of: $0) }.flatMap { text in
      text.components(separatedBy: "\n> ").dropFirst().map { call in
        String(call.prefix { $0 != " " })
      }
    })

  @Test(arguments: messages.filter { !$0.isForTools })
  func aMessageHasAGoldenFile(_ message: Message) {
    #expect(
      Self.goldenCalls.contains(message.name),
      "\(message.name): no file of \(Self.goldenFolder) shows a command that calls it")
  }

  @Test func thePageCountsThePlaces() throws {
    let page = try #require(
      SourceTree.text(of: "Sources/Cairn/Cairn.docc/Extending/AddingAControlCommand.md"))
    let places = page.matches(of: /(?m)^\d+\. \*\*/)
    #expect(places.count == 4, "message, handler, subcommand, golden file")
    #expect(page.contains("Four places"))
  }

  /// Beside its places a message stands where its rows are read and written, which the daemon and
  /// `cairnctl fetch --file` share, and where the daemon's pages ask.
  @Test(arguments: messages) func nothingElseNamesAMessage(_ message: Message) {
    let places = files(under: "Sources/", naming: message.type).filter { file in
      file.path != message.file.path && !file.path.contains("/Control/Handlers/")
        && !file.path.hasPrefix("Sources/cairnctl/") && file.name != "DaemonSource.swift"
        && file.target != "CairnRecords"
    }
    #expect(places.isEmpty, "\(message.type) also stands in \(places.map(\.path))")
  }
}
