// Reading a store's history for the control protocol.

import Cairn
import CairnControl
import CairnStore
import Foundation

/// A place in a store's history as text: the store's identifier and the number of a transaction.
public struct HistoryPosition: Sendable, Hashable, CustomStringConvertible {
  /// The store's, as its metadata hold it.
  public let store: String
  /// The last transaction that was read; 0 for none.
  public let number: Int64

  public init(store: String, number: Int64) {
    self.store = store
    self.number = number
  }

  /// Reads `E621E1F8-C36C-495A-93FC-0C247A3E6E5F:42`; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let identifier = UUID(uuidString: String(parts[0])),
      let number = Int64(parts[1]), number >= 0
    else { return nil }
    self.init(store: identifier.uuidString, number: number)
  }

  public var description: String { "\(store):\(number)" }
}

extension PersistentStore {
  /// Where the store's history ends now, as a token; nil for a store that keeps none.
  package func historyToken() throws -> String? {
    guard let history = capabilities.history, let identifier else { return nil }
    let number = try history.lastTransactionNumber()
    return HistoryPosition(store: identifier, number: number).description
  }
}

/// Reads the transactions of one store that a call of ``GetHistory`` wants, in portions.
///
/// A value: each portion goes on where the one before ended. Holds the changes of one transaction at a
/// time, however long the history is.
public struct HistoryReading: Sendable {
  /// The most changes of a reply, so that a message stays far below its limit.
  static let portion = 500
  /// Transactions that are looked at for one reply.
  static let page = 256
  /// The newest transactions that are read when nothing says where to begin.
  static let newest = 20

  private let store: PersistentStore
  private let keeper: any HistoryKeeping
  private let name: String
  private let naming: any RecordNaming
  private let entity: EntityDescription?
  private let author: String?
  private let identifier: String
  private var position: Int64
  private var since: Date?
  private var remaining: Int?
  private var keptSince: WireDate?
  private var search: NewestSearch?
  /// Transactions behind the position that are wanted by their author.
  private var waiting: ArraySlice<HistoryTransactionRecord> = []
  /// How far the position goes once nothing waits.
  private var pageEnd: Int64
  /// The one whose changes are being handed out.
  private var current: (head: HistoryTransactionRecord, rest: ArraySlice<HistoryChangeRecord>)?

  /// Looks backwards for where the newest transactions begin that are wanted.
  private struct NewestSearch: Sendable {
    var missing: Int
    /// Below this nothing was looked at.
    var upper: Int64
    /// How many numbers are looked at at once: more each time there is nothing, since numbers may lie far apart.
    var step = Int64(HistoryReading.page)
    var found: [HistoryTransactionRecord] = []
  }

  /// - Parameters:
  ///   - name: What the caller calls the store.
  ///   - otherStore: What the caller calls the store of an identifier, where it is another one.
  /// - Throws: a ``ControlError``: an unknown entity, a token that is none or leads nowhere, a store
  ///   without history.
  public init(
    _ parameters: GetHistory.Parameters, of store: PersistentStore, named name: String,
    model: ManagedObjectModel, naming: any RecordNaming,
    otherStore: (String) -> String? = { _ in nil }
  ) throws {
    guard let keeper = store.capabilities.history, let identifier = store.identifier else {
      throw ControlError.notPossible(
        code: "no-history", reason: "\(name) is a store of a type that keeps no history")
    }
    self.store = store
    self.keeper = keeper
    self.name = name
    self.naming = naming
    self.identifier = identifier
    author = parameters.author
    entity = try parameters.entity.map { entity in
      guard let found = model.entitiesByName[entity] else {
        throw ControlError.unknownEntity(entity, in: model)
      }
      return found
    }
    if let limit = parameters.limit, limit < 0 { throw ControlError.invalidParameter("limit") }
    let hasStart = parameters.after != nil || parameters.since != nil
    // Both ends of what goes on for ever: that caller means something else.
    if parameters.limit != nil, hasStart, parameters.follow ?? false {
      throw ControlError.invalidParameter("limit")
    }
    remaining = hasStart ? parameters.limit : nil
    (position, pageEnd) = (0, 0)
    switch (parameters.after, parameters.since) {
    case (_?, _?): throw ControlError.invalidParameter("since")
    case (let token?, nil):
      guard let place = HistoryPosition(token) else { throw ControlError.invalidParameter("after") }
      guard place.store == UUID(uuidString: identifier)?.uuidString else {
        let owner = otherStore(place.store).map { "it is of \"\($0)\"" }
        throw try notThere(owner ?? "it is of another store")
      }
      position = place.number
      // Says at once that there is nothing behind it.
      _ = try read(after: position, limit: 1)
    case (nil, let since?):
      self.since = since.date
      guard let oldest = try oldest() else { break }
      position = oldest.number - 1
      if oldest.number > 1, oldest.date > since.date { keptSince = WireDate(oldest.date) }
    case (nil, nil):
      // Numbers come out of a file, where they can be anything.
      let last = max(0, try keeper.lastTransactionNumber())
      search = NewestSearch(missing: parameters.limit ?? Self.newest, upper: last)
      position = last
    }
    pageEnd = position
  }

  /// Where a later call goes on.
  public var token: String { HistoryPosition(store: identifier, number: position).description }

  /// Reads on; nil when nothing more is there now and wanted, while a reply may be empty.
  ///
  /// - Throws: a ``ControlError`` when transactions were purged that have not been read.
  public mutating func next() throws -> GetHistory.Reply? {
    if search != nil {
      try searchOnce()
      return GetHistory.Reply(token: token)
    }
    var entries: [GetHistory.Transaction] = []
    var room = Self.portion
    let before = position
    while room > 0, try current != nil || begin() {
      guard let (head, rest) = current else { break }
      let part = rest.prefix(room)
      let left = rest.dropFirst(part.count)
      entries.append(try entry(head, part, continues: !left.isEmpty))
      room -= max(1, part.count)
      if left.isEmpty { end(head) } else { current = (head, left) }
    }
    guard !entries.isEmpty || position != before || keptSince != nil else { return nil }
    defer { keptSince = nil }
    return GetHistory.Reply(transactions: entries, token: token, keptSince: keptSince)
  }

  /// Takes the next transaction that is wanted; false when there is none on the pages that are read.
  private mutating func begin() throws -> Bool {
    if remaining == 0 { return false }
    if waiting.isEmpty {
      position = pageEnd
      let page = try read(after: position, limit: Self.page, since: since)
      guard let last = page.last else {
        // What is committed from now on is wanted whatever its writer's clock says.
        since = nil
        return false
      }
      waiting = page.filter(isWanted)[...]
      pageEnd = last.number
      if waiting.isEmpty { position = pageEnd }
    }
    while let head = waiting.popFirst() {
      guard let changes = try wantedChanges(of: head) else {
        position = waiting.isEmpty ? pageEnd : head.number
        continue
      }
      current = (head, changes[...])
      return true
    }
    return false
  }

  private mutating func end(_ head: HistoryTransactionRecord) {
    current = nil
    if let count = remaining { remaining = count - 1 }
    position = waiting.isEmpty && remaining != 0 ? max(pageEnd, head.number) : head.number
  }

  /// Looks at one page more, backwards.
  private mutating func searchOnce() throws {
    guard var search else { return }
    let bottom = try oldest().map { $0.number - 1 } ?? search.upper
    let lower = max(bottom, search.upper - search.step)
    if search.missing > 0, lower < search.upper {
      let page = try read(after: lower, limit: Self.page).filter { $0.number <= search.upper }
      if page.count == Self.page, search.step > Int64(Self.page) {
        // There may be newer ones behind these.
        search.step /= 2
        self.search = search
        return
      }
      search.step = page.isEmpty ? min(search.step, 1 << 61) * 2 : Int64(Self.page)
      for head in page.reversed() where search.missing > 0 && isWanted(head) {
        if entity != nil, try wantedChanges(of: head) == nil { continue }
        search.found.append(head)
        search.missing -= 1
      }
      search.upper = lower
      self.search = search
    } else {
      waiting = search.found.reversed()[...]
      if let first = waiting.first { position = first.number - 1 }
      self.search = nil
    }
  }

  private func isWanted(_ head: HistoryTransactionRecord) -> Bool {
    author.map { $0 == head.author ?? "" } ?? true
  }

  /// The changes of a transaction; nil when those of one entity are wanted and it has none.
  private func wantedChanges(
    of head: HistoryTransactionRecord
  ) throws -> [HistoryChangeRecord]? {
    let whole = try translated {
      try keeper.readHistory(HistoryReadRequest(after: head.number - 1, limit: 1)).first
    }
    guard let whole, whole.number == head.number else {
      throw try notThere("transaction \(head.number) was purged while it was read")
    }
    guard let entity else { return whole.changes }
    let changes = whole.changes.filter { $0.objectID.entity.isKindOf(entity: entity) }
    return changes.isEmpty ? nil : changes
  }

  private func entry(
    _ head: HistoryTransactionRecord, _ changes: ArraySlice<HistoryChangeRecord>, continues: Bool
  ) throws -> GetHistory.Transaction {
    let names = try naming.names(of: changes.map(\.objectID))
    func text(_ value: String?) -> String? { value.flatMap { $0.isEmpty ? nil : $0 } }
    let place = HistoryPosition(
      store: identifier, number: continues ? head.number - 1 : head.number)
    return GetHistory.Transaction(
      number: Int(head.number), token: place.description, date: WireDate(head.date),
      author: text(head.author), context: text(head.contextName), program: text(head.bundleID),
      process: text(head.processID),
      changes: zip(changes, names).map { change, name in
        GetHistory.Change(
          kind: Self.kind(change.kind), entity: change.objectID.entity.name ?? "", id: name,
          properties: change.kind == .update ? change.changedProperties?.sorted() : nil)
      }, continues: continues)
  }

  private static func kind(_ kind: HistoryChangeKind) -> GetHistory.Change.Kind {
    switch kind {
    case .insert: .inserted
    case .update: .updated
    case .delete: .deleted
    }
  }

  // MARK: The store

  /// Transactions without their changes.
  private func read(
    after number: Int64, limit: Int, since: Date? = nil
  ) throws -> [HistoryTransactionRecord] {
    var request = HistoryReadRequest(after: number, afterDate: since, limit: limit)
    request.includesChanges = false
    return try translated { try keeper.readHistory(request) }
  }

  private func oldest() throws -> HistoryTransactionRecord? {
    var request = HistoryReadRequest(limit: 1)
    request.includesChanges = false
    return try keeper.readHistory(request).first
  }

  private func translated<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let error as CoreDataError where error.code == .persistentHistoryTokenExpired {
      let last = try keeper.lastTransactionNumber()
      throw try notThere(
        position > last
          ? "the store has come to transaction \(last) only; it went back in time, as a restored "
            + "backup does" : "what came behind it has been purged")
    }
  }

  private func notThere(_ reason: String) throws -> ControlError {
    let number = try oldest().map { $0.number - 1 } ?? keeper.lastTransactionNumber()
    return .historyNotThere(
      name: name, reason: reason,
      oldest: HistoryPosition(store: identifier, number: number).description)
  }
}
