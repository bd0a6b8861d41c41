import CairnContext
import CairnCoordinator
import CairnStore
import Foundation
import Synchronization

/// Answers another daemon out of the local store: gives it what is new, and applies for itself what it is given, by
/// the same plan and importer as any link.
///
/// Mutable state: the names of askers' models, in `names`. All else happens on the queue of `context`.
final class PeerService: Sendable {
  private let local: StoreAccess
  private let context: ManagedObjectContext
  private let names = Mutex<[UInt64: SchemaNames]>([:])
  /// How many records of those that references wait for one message names.
  static let mostAwaited = 10_000

  init(_ engine: SyncEngine) {
    local = engine.local
    context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = engine.coordinator
    context.transactionAuthor = SyncConfiguration.author
  }

  /// Answers a question; what goes wrong is an answer, too.
  func answer(_ question: Data) -> Data {
    do {
      let question = try PeerQuestion(decoding: question)
      return try context.performAndWait {
        context.name = question.name
        return try answer(question).encoded
      }
    } catch {
      return PeerAnswer(error).encoded
    }
  }

  private func answer(_ question: PeerQuestion) throws -> PeerAnswer {
    let asker = question.asker
    let side = StoreSide(access: local, context: context, readerName: question.name)
    try local.checkFile()
    switch question.matter {
    case .greet(let filter, let names):
      try remember(names)
      let filter = filter.flatMap { EntityFilter($0, local.schema) }
      try local.take(filter, from: asker)
      return try identity(for: asker)
    case .present(let claim):
      _ = try local.renewIfRestored(asSeenBy: {
        ReaderClaim(cursor: $0 == claim.store ? claim.cursor : SyncCursor(), ids: { claim.ids })
      })
      _ = try ClockRestart(access: local).runIfNeeded()
      return try identity(for: asker)
    case .news:
      try HistoryCapture(access: local).run()
      return .done
    case .firstRead: return .firstRead(try side.firstRead(of: side.reader()))
    case .changes(let cursor, let acknowledged, let batchSize):
      var side = side
      side.batchSize = max(1, min(Int(clamping: batchSize), local.configuration.batchSize))
      let stream = try side.reader()
      try side.acknowledge(asker, at: acknowledged, of: stream)
      let changes = try side.changes(after: cursor, of: stream, for: asker)
      return .changes(
        changes?.set, changes?.end ?? cursor,
        hasForgotten: try side.hasForgotten(after: cursor, of: stream))
    case .states(let ids): return .states(try side.states(of: Set(ids), for: asker))
    case .take(let set, let cursor, let digest, let claim):
      return try take(set, cursor, digest, claim, side)
    case .retry:
      let report = try HeldRetry(side: side, source: asker).run()
      return .taken(try side.cursor(for: asker), .init(report))
    case .held: return .held(try local.held(from: [asker]))
    case .pending(let position):
      return .number(UInt64(try local.changeCount(after: position, except: asker)))
    case .awaited(let last):
      return .records(try local.awaitedRecords(after: last, limit: Self.mostAwaited))
    case .forgotten(let ids, let position):
      let filter = try local.ledger().value(SyncKey.filter(asker)).flatMap {
        EntityFilter($0, local.schema)
      }
      return .records(try local.forgotten(among: ids, readUpTo: position, filter: filter))
    case .gone(let ids):
      try local.noteGone(ids)
      return .done
    }
  }

  private func identity(for asker: StoreID) throws -> PeerAnswer {
    let ledger = try local.ledger()
    return .identity(
      ledger.storeID, former: try ledger.formerIDs(), served: try ledger.cursor(for: asker),
      names: local.schema.names.encoded)
  }

  private func take(
    _ set: ChangeSet, _ cursor: SyncCursor, _ digest: UInt64, _ claim: PeerQuestion.Claim,
    _ side: StoreSide
  ) throws -> PeerAnswer {
    var set = set
    if digest != local.schema.namesDigest {
      guard let names = names.withLock({ $0[digest] }) else {
        throw SyncError(
          .contention, "the names of the other daemon's model are not known any more; greet again",
          recovery: .retry)
      }
      set = SchemaTranslation(from: names, to: local.schema).changes(set)
    }
    let taken = try side.take(
      SourceChanges(set: set, end: cursor), of: set.source, by: claim.expected, asking: nil)
    var report = PassReport(event: .moved)
    report.take(taken.outcome)
    return .taken(try side.cursor(for: set.source), .init(report))
  }

  private func remember(_ encoded: Data) throws {
    let found = try SchemaNames(decoding: encoded)
    names.withLock { $0[found.digest] = found }
  }
}

extension PeerAnswer.Counts {
  fileprivate init(_ report: PassReport) {
    records = UInt64(report.records)
    links = UInt64(report.links)
    conflicts = UInt64(report.conflicts)
  }
}
