// cairnctl explain
import ArgumentParser
import CairnControl

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Show why a property has its value.",
    discussion: """
      Which store, author and transaction wrote it, by which rule it won, what it superseded, and how \
      every store has it now.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "The entity.", completion: .entities)
  var entity: String

  @Argument(help: "The record ID, as fetch shows it.")
  var id: EntryID

  @Argument(
    help: "The property; all that the record itself has when left out.", completion: .properties)
  var property: String?

  func run() throws {
    let reply = try shared.connect().call(
      ExplainValue.self, .init(entity: entity, id: id.text, property: property))
    if shared.json { return try Output.json(reply) }
    ExplanationText.lines(reply, property: property).forEach(Output.line)
    Block.note(away: reply.away, damaged: 0)
  }
}

/// An explanation as text.
enum ExplanationText {
  static func lines(_ reply: ExplainValue.Reply, property: String?) -> [String] {
    var lines = ["\(reply.entity) \(reply.record)"]
    if reply.survivor != reply.record {
      lines.append("  was united with \(reply.survivor), which stands for both")
    }
    if let deletion = reply.deletion {
      lines.append(reply.isDeleted ? "  is deleted" : "  was deleted, and came back")
      lines += write(deletion, verb: "deleted", indent: "    ")
    }
    // For one property, its own standings say it.
    if property == nil || reply.values.isEmpty {
      lines += standings(reply.standings, isWhole: true, isDeleted: reply.isDeleted)
    }
    for value in reply.values {
      lines.append("")
      lines += self.value(value, of: reply)
    }
    if reply.values.isEmpty, !reply.isDeleted, let property {
      lines.append("  \(TerminalText.oneLine(property)) has no value, and never had one")
    }
    if reply.hasMore { lines.append("  ... and more members") }
    return lines
  }

  private static func value(
    _ value: ExplainValue.ValueExplained, of reply: ExplainValue.Reply
  ) -> [String] {
    let name = TerminalText.oneLine(value.property)
    var head: String
    switch (value.member, value.isPlace) {
    case (let member?, true): head = "the place in \(name) of \(member)"
    case (let member?, false):
      head = "\(name) \(value.value == nil ? "no longer has" : "has") \(member)"
    case (nil, true): head = "the place in \(name)"
    case (nil, false):
      let text = value.omitted.map { "(\(Readable.bytes($0)))" } ?? value.value?.text ?? "no value"
      head = "\(name) is \(text)"
    }
    if value.record != reply.survivor { head += ", by \(value.record)" }
    var lines = TerminalText.wrapped(head)
    lines += write(value.write, verb: "written", indent: "  ")
    if value.write.isByDeleteRule { lines.append("  a delete rule made it") }
    lines.append("  \(rule(value.rule))")
    for conflict in value.superseded {
      lines.append("  superseded \(conflict.id)")
      lines += ConflictText.losing(conflict).map { "    " + $0 }
    }
    let isLinkGone = value.member != nil && !value.isPlace && value.value == nil
    return lines + standings(value.standings, isWhole: false, isDeleted: isLinkGone)
  }

  private static func write(
    _ write: ExplainValue.WriteExplained, verb: String, indent: String
  ) -> [String] {
    var text = verb
    if let at = write.at { text += " \(Readable.moment(at))" }
    text += " in \(write.store)"
    switch write.known {
    case .transaction:
      text += " by \(write.author ?? "a program without an author name")"
      let parts = [
        write.transaction.map { "transaction \($0)" },
        write.dated.map { "dated \(Readable.moment($0)) by a wrong clock" },
        write.context.map { "context \($0)" },
        write.process.map { "process \($0)" },
      ].compactMap { $0 }
      if !parts.isEmpty { text += " (\(parts.joined(separator: ", ")))" }
    case .elsewhere: text += ", whose history is not here"
    case .gone: text += "; history does not tell by whom any more"
    case .nobody:
      text +=
        verb == "deleted"
        ? ", by no transaction of a program: a repair did it"
        : ", by no transaction of a program: it was there before sync, or a migration or a repair "
          + "made it"
    }
    return TerminalText.wrapped(text, indent: indent)
  }

  private static func rule(_ rule: ExplainValue.ValueExplained.Rule) -> String {
    switch rule {
    case .unopposed: "its writer had seen all that it replaced"
    case .lastWriter: "won over a concurrent write: it is the later one"
    case .deleteWon: "the delete won over a concurrent write"
    case .writeWon: "won over a concurrent delete"
    case .united: "came from a record of the same uniqueness constraint"
    case .contradiction: "was taken from two values of one write, as nothing tells which is right"
    case .discarded: "stayed when an operator discarded another in quarantine"
    case .reverted: "an operator reverted another"
    }
  }

  private static func standings(
    _ standings: [ExplainValue.StoreStands], isWhole: Bool, isDeleted: Bool
  ) -> [String] {
    let width = standings.map { TextTable.width($0.store) }.max() ?? 0
    return standings.flatMap { stands -> [String] in
      let store = TerminalText.padded(TerminalText.oneLine(stands.store), to: width)
      let indent = String(repeating: " ", count: width + 4)
      let lines = TerminalText.wrapped(
        isDeleted && stands.standing == .inStep ? "knows that" : words(stands, isWhole),
        indent: indent)
      return lines.enumerated().map { $0 > 0 ? $1 : "  \(store)  \($1.dropFirst(width + 4))" }
    }
  }

  private static func words(_ stands: ExplainValue.StoreStands, _ isWhole: Bool) -> String {
    let other = stands.value.map { "has \($0.text)" } ?? "has no value"
    return switch stands.standing {
    case .inStep: isWhole ? "has the record" : "has it"
    case .waiting: "\(isWhole ? "has it as it was" : other); the next pass brings this"
    case .newer: "\(isWhole ? "has it newer" : other), newer; the next pass brings that"
    case .quarantined: "waits in quarantine: \(stands.reason ?? ""); `cairnctl quarantine`"
    case .held: "waits for time: \(stands.reason ?? ""); `cairnctl held`"
    case .parked: stands.reason ?? "waits for another record"
    case .deleted: "the record is deleted there"
    case .unknown: "the record has not arrived there"
    case .keptBeside: "keeps it beside the row: its model does not have it"
    }
  }
}
