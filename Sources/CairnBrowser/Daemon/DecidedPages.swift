// What merging decided against, and what waits.

import CairnControl

/// What a list does not cover.
struct ListRemarks: Sendable {
  let remarks: [String]

  init(away: [AwayReplica], damaged: Int) {
    var remarks = away.map { Phrase.sentence("Not read: \($0.name): \($0.reason)") }
    if damaged > 0 {
      remarks.append(
        "\(Readable.count(damaged, "entry", "entries")) cannot be read, because a file is damaged.")
    }
    self.remarks = remarks
  }
}

/// One page of a list that the daemon gives in parts.
struct ListPage<Entry: Sendable>: Sendable {
  /// Entries a page.
  static var length: Int { 50 }

  let entries: [Entry]
  let isEmpty: Bool
  let later: String?
  let first: String?
  let notes: ListRemarks

  /// - Parameters:
  ///   - address: The list's own, without a place in it.
  ///   - after: Where the page begins; nil for the first.
  ///   - next: Where the page after it begins; nil for the last.
  init(
    _ entries: [Entry], at address: String, after: String?, next: String?, notes: ListRemarks
  ) {
    self.entries = entries
    isEmpty = entries.isEmpty
    later = next.map { "\(address)?after=\(PageAddress.safe($0))" }
    first = after == nil ? nil : address
    self.notes = notes
  }
}

/// A conflict in the list of all.
struct ConflictListEntry: Sendable {
  let entryPage: String
  let merged: String
  let place: String
  let lost: String
  let won: String
  let rule: String

  init(_ conflict: JournaledConflictEntry) {
    entryPage = "/conflicts/\(PageAddress.safe(conflict.id))"
    merged = Readable.moment(conflict.at)
    place = conflict.place
    lost = PageValue.shortened(conflict.losingText, to: RecordValues.shortText)
    won = PageValue.shortened(conflict.winningText, to: RecordValues.shortText)
    rule = conflict.rule.words
  }
}

extension ListPage<ConflictListEntry> {
  init(_ reply: ListConflicts.Reply, after: String?) {
    self.init(
      reply.conflicts.map(ConflictListEntry.init), at: "/conflicts", after: after,
      next: reply.next, notes: ListRemarks(away: reply.away, damaged: reply.damaged))
  }
}

struct ConflictListPage: Sendable {
  struct Side: Sendable {
    let label: String
    let written: String
    let moment: String
    let store: String
  }

  let place: String
  let member: String?
  let merged: String
  let rule: String
  let sides: [Side]
  let journals: String
  let command: String

  init(_ conflict: JournaledConflictEntry) {
    place = conflict.place
    member = conflict.member.map { "\(conflict.isPlace ? "place of" : "link with") \($0)" }
    merged = Readable.moment(conflict.at)
    rule = conflict.rule.words
    func side(_ label: String, _ text: String, _ written: WrittenValue) -> Side {
      Side(
        label: label, written: text, moment: Readable.moment(written.at), store: written.store)
    }
    sides = [
      side("Lost", conflict.losingText, conflict.lost),
      side("Won", conflict.winningText, conflict.won),
    ]
    journals = conflict.journals.joined(separator: ", ")
    command = "cairnctl conflicts restore \(conflict.id)"
  }
}

extension JournaledConflictEntry {
  /// What it is about: entity, record and property.
  fileprivate var place: String {
    [entity, record, property].compactMap { $0 }.joined(separator: " ")
  }
}

/// What waits, in the list of all.
struct QuarantineListEntry: Sendable {
  let identifier: String
  let since: String
  let place: String
  let properties: String?
  let way: String
  let reason: String
  let discard: String
  let command: String

  init(_ entry: QuarantinedEntry) {
    identifier = entry.id
    since = Readable.moment(entry.since)
    place =
      [entry.entity, entry.record].compactMap { $0 }.joined(separator: " ")
      + (entry.isDelete ? ", its deletion" : "")
    properties = entry.properties.isEmpty ? nil : entry.properties.joined(separator: ", ")
    way = "in \(entry.store), from \(entry.source)"
    reason =
      entry.message
      + (entry.ahead.map { "; written \(Readable.seconds($0)) in the future" } ?? "")
    discard = entry.discard
    if entry.reason == .clockSkew, let record = entry.record {
      command = "cairnctl held accept --record \(record)"
    } else {
      command = "cairnctl quarantine show \(entry.id)"
    }
  }
}

extension ListPage<QuarantineListEntry> {
  init(_ reply: ListQuarantine.Reply, after: String?) {
    self.init(
      reply.entries.map(QuarantineListEntry.init), at: "/quarantine", after: after,
      next: reply.next, notes: ListRemarks(away: reply.away, damaged: reply.damaged))
  }
}
