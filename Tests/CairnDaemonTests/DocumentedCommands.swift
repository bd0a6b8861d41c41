// Commands that README and the operator's guide tell people to type.
import Foundation

/// A page and what it says to type.
struct DocumentedPage: Sendable {
  /// A command, without a prompt and comment.
  struct Command: Sendable, CustomStringConvertible {
    let page: String
    let line: Int
    let words: [String]
    /// Whether it stands in a block that is run as it is.
    let isRun: Bool

    var text: String { words.joined(separator: " ") }
    var description: String { "\(page):\(line): \(text)" }
  }

  let path: String
  /// What blocks and code in running text say, in their order.
  private(set) var commands: [Command] = []
  /// The language of each block.
  private(set) var blocks: [String] = []
  /// Whether the page's last block is its end.
  private(set) var endsWithBlock = false

  init(_ path: String) throws {
    self.path = path
    let text = try String(contentsOfFile: Project.file(path), encoding: .utf8)
    var language: String?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if line.hasPrefix("```") {
        if language == nil {
          language = String(line.dropFirst(3))
          blocks.append(language ?? "")
        } else {
          language = nil
          endsWithBlock = true
        }
      } else if let language {
        add(String(line), index, isRun: language == "sh")
      } else {
        if !line.allSatisfy(\.isWhitespace) { endsWithBlock = false }
        // A backslash stands before a bar in tables.
        for part in line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        where part.offset % 2 == 1 { add(String(part.element), index, isRun: false) }
      }
    }
  }

  private mutating func add(_ text: String, _ index: Int, isRun: Bool) {
    let bare = text.split(separator: "#", maxSplits: 1).first.map(String.init) ?? ""
    let words = Self.words(bare)
    guard words.count > 0 else { return }
    commands.append(Command(page: path, line: index + 1, words: words, isRun: isRun))
  }

  /// Words as a shell takes them, with quotes.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    var word = ""
    var quote: Character?
    var isWord = false
    for character in text {
      if let open = quote {
        if character == open { quote = nil } else { word.append(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        isWord = true
      } else if character == " " {
        if isWord { words.append(word) }
        word = ""
        isWord = false
      } else {
        word.append(character)
        isWord = true
      }
    }
    return isWord ? words + [word] : words
  }

  static let guide: [String] = {
    let folder = "Sources/Cairn/Cairn.docc/Operating"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: Project.file(folder))) ?? []
    return names.sorted().map { "\(folder)/\($0)" }
  }()
}
