import CairnStore
import Foundation
import Testing

@testable import CairnSync

/// What moves between a source and a destination, and what is noted of it, whatever they are.
struct ExchangeTests {
  private struct Failed: Error {}

  /// A source with numbered sets in its streams.
  private final class Source: ChangeSource {
    /// By stream, how many sets it has.
    var sets: [StoreID: UInt64]
    var acknowledged: [UInt64] = []
    var lost: Set<StoreID> = []

    init(_ sets: [StoreID: UInt64]) { self.sets = sets }

    func streams() -> [StoreID] { sets.keys.sorted() }
    func firstRead(of stream: StoreID) -> SyncCursor {
      SyncCursor(streamingUntil: sets[stream, default: 0])
    }
    func acknowledge(_ reader: StoreID, at position: UInt64, of stream: StoreID) {
      acknowledged.append(position)
    }
    func changes(
      after cursor: SyncCursor, of stream: StoreID, for reader: StoreID
    ) -> SourceChanges? {
      let number = cursor.position + 1
      guard number <= sets[stream, default: 0], !lost.contains(stream) else { return nil }
      var set = ChangeSet(source: stream, after: cursor.position, upTo: number)
      set.records = [RecordState(id: RecordID(high: stream.low, low: number), entity: "Item")]
      return SourceChanges(
        set: set,
        end: SyncCursor(position: number, streamingUntil: cursor.streamingUntil, mark: number))
    }
    func hasForgotten(after cursor: SyncCursor, of stream: StoreID) -> Bool {
      lost.contains(stream)
    }
    func claim(on destination: StoreID) -> ReaderClaim? { nil }
    func states(of ids: Set<RecordID>, for reader: StoreID) -> ChangeSet {
      ChangeSet(source: StoreID(high: 0, low: 0), after: 0, upTo: 0)
    }
  }

  private final class Destination: ChangeDestination {
    var cursors: [StoreID: SyncCursor] = [:]
    var taken: [RecordID] = []
    /// Whether it does not take the next set.
    var fails = false
    var isBehind = false
    /// Whether it is restored from an empty backup when it takes the next set.
    var goesBack = false
    let takesParts: Bool
    private(set) var parts = 0

    init(takesParts: Bool = true) { self.takesParts = takesParts }

    func reader() -> StoreID { StoreID(high: 9, low: 9) }
    func cursor(for stream: StoreID) -> SyncCursor { cursors[stream] ?? SyncCursor() }
    func take(
      _ changes: SourceChanges, of stream: StoreID, by expected: ExpectedDestination,
      asking: ((Set<RecordID>) throws -> [RecordState])?
    ) throws -> Acknowledgement {
      if fails { throw Failed() }
      if asking != nil { parts += 1 }
      if goesBack { cursors = [:] }
      if !isBehind, !goesBack {
        cursors[stream] = changes.end
        taken += changes.set.records.map(\.id)
      }
      return Acknowledgement(
        outcome: ChangeImporter.Outcome(), position: cursor(for: stream).position)
    }
  }

  private let first = StoreID(high: 0, low: 1)
  private let second = StoreID(high: 0, low: 2)

  private func exchange(
    _ source: Source, _ destination: Destination,
    comeBack: @escaping () throws -> [String: Int] = { [:] }
  ) -> Exchange {
    Exchange(
      source: source, destination: destination, wanted: { $0 }, comeBack: comeBack,
      checkDeletions: { _, _ in }, fullSet: .max)
  }

  @Test func everySetOfEveryStreamMovesOnceInItsOrder() throws {
    let (source, destination) = (Source([first: 2, second: 3]), Destination())
    var events: [PassState.Event] = []
    repeat {
      events.append(try exchange(source, destination).move().event)
    } while events.last == .moved
    #expect(events.count == 6)
    #expect(
      destination.taken
        == [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)].map { RecordID(high: $0.0, low: $0.1) })
  }

  @Test func aSourceIsToldOnlyWhatTheDestinationHasSaid() throws {
    let (source, destination) = (Source([first: 3]), Destination())
    destination.fails = true
    #expect(throws: Failed.self) { try exchange(source, destination).move() }
    #expect(source.acknowledged == [0])
    destination.fails = false
    destination.isBehind = true
    #expect(try exchange(source, destination).move().position == 0)
    destination.isBehind = false
    for expected in 1...3 as ClosedRange<UInt64> {
      #expect(try exchange(source, destination).move().position == expected)
    }
    #expect(source.acknowledged == [0, 0, 0, 1, 2])
  }

  /// Sets leave out what came from the destination, and it has lost that.
  @Test func aDestinationThatGoesBackInTimeMeanwhileIsLookedAtAnew() throws {
    let (source, destination) = (Source([first: 3]), Destination())
    _ = try exchange(source, destination).move()
    destination.goesBack = true
    let error = #expect(throws: SyncError.self) { try exchange(source, destination).move() }
    #expect(error?.code == .fileMoved && error?.recovery == .retry)
    #expect(destination.taken.count == 1)
  }

  @Test func aDestinationThatHasMissedSomethingComesBackBeforeItIsDone() throws {
    let (source, destination) = (Source([first: 3]), Destination())
    _ = try exchange(source, destination).move()
    source.lost = [first]
    var back = 0
    let report = try exchange(source, destination) {
      back += 1
      return ["here": 4]
    }.move()
    #expect(back == 1 && report.event == .drained && report.returned == ["here": 4])
    #expect(throws: Failed.self) {
      try exchange(source, destination) { throw Failed() }.move()
    }
  }

  @Test func partsOfTransactionsGoOnlyToWhomMayAskAboutTheRest() throws {
    for takesParts in [true, false] {
      let (source, destination) = (Source([first: 2]), Destination(takesParts: takesParts))
      let report = try exchange(source, destination).move()
      #expect((report.progress != nil) == takesParts)
      #expect(destination.parts == (takesParts ? 1 : 0))
    }
  }
}
