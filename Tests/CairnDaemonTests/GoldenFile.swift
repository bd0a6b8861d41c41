// A cairnctl command, what it asks the daemon, what that answers, and what is shown.
import CairnControl
import Foundation
import Synchronization
import Testing

@testable import CairnDaemon

/// One file of the folder Golden.
///
/// ```
/// $ cairnctl pause nas
/// | a line of standard input
/// > io.cairn.Sync.Pause {"name":"nas"}
/// < {"parameters":{"paused":["nas"]}}
/// exit 0
/// --- output
/// paused nas
/// --- errors
/// ```
///
/// The lines up to `exit` are written by hand, the rest by `RECORD_GOLDEN=1`.
struct GoldenFile: Sendable, CustomTestStringConvertible {
  /// A call, and its answers in their order.
  struct Exchange: Sendable {
    let method: String
    let parameters: JSONValue
    var answers: [ControlReply] = []
  }

  let name: String
  /// The lines written by hand.
  private(set) var head = ""
  private(set) var arguments: [String] = []
  private(set) var input = ""
  private(set) var exchanges: [Exchange] = []
  /// What the program did when the file was recorded; empty before.
  private(set) var shown = ""

  var testDescription: String { name }
  private static let folder = Project.file("Tests/CairnDaemonTests/Golden")

  /// All files, by name.
  static let all: [GoldenFile] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".txt") }.sorted().compactMap { try? GoldenFile(named: $0) }
  }()

  init(named name: String) throws {
    self.name = name
    let text = try String(contentsOfFile: "\(Self.folder)/\(name)", encoding: .utf8)
    var rest = Substring(text)
    while !rest.isEmpty, !rest.hasPrefix("exit ") {
      let line = rest.prefix { $0 != "\n" }
      rest = rest.dropFirst(line.count + 1)
      head += line + "\n"
      try read(line)
    }
    shown = String(rest)
  }

  private mutating func read(_ line: Substring) throws {
    let content = line.dropFirst(2)
    switch line.prefix(2) {
    case "$ ": arguments = Self.words(content.dropFirst("cairnctl ".count))
    case "| ": input += content + "\n"
    case "> ":
      let method = content.prefix { $0 != " " }
      let parameters = try JSONParser.parse(Array(content.dropFirst(method.count + 1).utf8))
      exchanges.append(Exchange(method: String(method), parameters: parameters))
    case "< ":
      let message = try JSONParser.parse(Array(content.utf8))
      let reply = try #require(ControlReply(message: message), "\(name): \(line)")
      exchanges[exchanges.count - 1].answers.append(reply)
    default: Issue.record("\(name): what is this? \(line)")
    }
  }

  /// Words as a shell takes them, with single quotes.
  private static func words(_ line: Substring) -> [String] {
    var words: [String] = []
    for (index, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
      if index % 2 == 1 {
        words.append(String(part))
      } else {
        words += part.split(separator: " ").map(String.init)
      }
    }
    return words
  }

  func record(_ shown: String) throws {
    try (head + shown).write(toFile: "\(Self.folder)/\(name)", atomically: true, encoding: .utf8)
  }
}

/// Answers calls as a golden file says, in its order.
///
/// Mutable state: the exchanges to come, inside the mutex.
final class GoldenReplay: Sendable {
  private let exchanges: Mutex<[GoldenFile.Exchange]>
  /// All methods of the daemon.
  static let methods: [any ControlMethod.Type] = HandlerTable(
    host: EngineHost(), actions: .idle
  ).handlers.map(\.method)

  init(_ file: GoldenFile) { exchanges = Mutex(file.exchanges) }

  var handlers: [ControlHandler] { Self.methods.map { handler($0) } }
  var unasked: [String] { exchanges.withLock { $0.map(\.method) } }

  private func handler<Method: ControlMethod>(_ method: Method.Type) -> ControlHandler {
    ControlHandler(method) { [self] parameters, send in
      let next = exchanges.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      let exchange = try #require(next, "\(method.name) was not expected")
      #expect(exchange.method == method.name)
      #expect(exchange.parameters == (try JSONValueEncoder.encode(parameters)))
      for answer in exchange.answers {
        if let error = answer.error { throw ControlError(name: error, fields: answer.parameters) }
        let members = JSONValue.object(answer.parameters)
        let reply = try JSONValueDecoder.decode(method.Reply.self, from: members)
        // What the type does not know would be lost in silence.
        #expect(try JSONValueEncoder.encode(reply) == members, "\(method.name)")
        if !answer.continues { return reply }
        try await send(reply)
      }
      throw FakeFault()
    }
  }
}
