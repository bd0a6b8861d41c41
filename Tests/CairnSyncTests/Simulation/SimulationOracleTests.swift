import Testing

@testable import CairnSync

/// What the simulation's oracle says of a value that an operator has written once more, while a program of another
/// store replaced it; see `SimulationOracle.hasLost`.
struct SimulationOracleTests {
  private static func picture(_ value: String) -> StorePicture {
    var picture = StorePicture()
    picture.items["k1"] = StorePicture.Item(value: value)
    return picture
  }

  /// What the oracle finds where all stores have `v1` in the end.
  ///
  /// Store `b` inserts `v1`, `c` replaces it by `v2`, its operator takes that back unless told otherwise, and then
  /// a program replaces `v1` by `v3`.
  private func faults(
    isTakenBack: Bool = true, thirdAt store: String = "b", journal: Set<String>
  ) -> [String] {
    var oracle = SimulationOracle()
    var time = 0
    func write(_ value: String, over saw: String?, in store: String) {
      time += 1
      var draft = SimulationOracle.Draft()
      let write = SimulationOracle.Write(
        value: value, place: "item k1 value", record: "k1", store: store, time: time)
      draft.writes = [(write, saw)]
      oracle.acknowledge(draft, in: store, at: time)
    }
    write("v1", over: nil, in: "b")
    if isTakenBack {
      write("v2", over: "v1", in: "c")
      time += 1
      _ = oracle.acknowledgeAct(
        at: "c", from: Self.picture("v2"), to: Self.picture("v1"), time: time)
    }
    write("v3", over: "v1", in: store)
    return oracle.faults(in: Self.picture("v1"), journal: journal)
  }

  @Test func whatReplacedTheFirstWritingMayLoseToTheSecond() {
    #expect(faults(journal: ["v3"]) == [])
  }

  @Test func whatLostAndIsInNoJournalIsLost() {
    let found = faults(journal: [])
    #expect(found.contains { $0.hasPrefix("stale: v1") }, "\(found)")
    #expect(found.contains { $0.hasPrefix("lost write: v3") }, "\(found)")
  }

  @Test func whoWroteWhereTheOperatorDidHasSeenTheSecond() {
    #expect(faults(thirdAt: "c", journal: ["v3"]).map { $0.prefix(9) } == ["stale: v1"])
  }

  @Test func aValueThatIsWrittenOnceIsStaleWhereItWasReplaced() {
    #expect(
      faults(isTakenBack: false, journal: ["v3"]).map { $0.prefix(9) } == ["stale: v1"])
  }

  /// What the oracle finds where all stores have `v1` in the end, which a program of `c` replaced by `v2`, and of which
  /// the record was deleted at `b`.
  ///
  /// - Parameters:
  ///   - isUndone: Whether `b` came back from a backup from before the delete.
  ///   - seen: The values that the deleter saw.
  private func faults(isUndone: Bool, seen: Set<String>, journal: Set<String>) -> [String] {
    var oracle = SimulationOracle()
    func acknowledge(
      _ store: String, at time: Int, _ change: (inout SimulationOracle.Draft) -> Void
    ) {
      var draft = SimulationOracle.Draft()
      change(&draft)
      oracle.acknowledge(draft, in: store, at: time)
    }
    func write(_ value: String, _ store: String, _ time: Int) -> SimulationOracle.Write {
      .init(value: value, place: "item k1 value", record: "k1", store: store, time: time)
    }
    acknowledge("b", at: 1) { $0.writes = [(write("v1", "b", 1), nil)] }
    acknowledge("c", at: 2) { $0.writes = [(write("v2", "c", 2), "v1")] }
    acknowledge("b", at: 4) {
      $0.deletes = [.init(record: "k1", store: "b", time: 4, seen: seen)]
      $0.touched = ["k1"]
    }
    acknowledge("c", at: 5) { $0.touched = ["k1"] }
    if isUndone { oracle.lose("b", since: 3, elsewhere: ["v1", "v2"], records: []) }
    return oracle.faults(in: Self.picture("v1"), journal: journal)
  }

  @Test func whatWasReplacedMayComeBackWithARecordWhoseDeleteABackupHasUndone() {
    #expect(faults(isUndone: true, seen: ["v1"], journal: ["v2"]) == [])
  }

  @Test(arguments: [(true, ["v1"], []), (false, ["v1"], ["v2"])])
  func otherwiseWhatWasReplacedIsStale(isUndone: Bool, seen: [String], journal: [String]) {
    let found = faults(isUndone: isUndone, seen: Set(seen), journal: Set(journal))
    #expect(found.contains { $0.hasPrefix("stale: v1") }, "\(found)")
  }

  /// What the oracle finds where an operator of `c` has kept an item as it was there, with the value `v1` that a program
  /// of `b` has replaced by `v2`, and all stores have `v2` in the end.
  ///
  /// - Parameter names: The properties that the operator has written anew; nil for all.
  private func faults(keeping names: Set<String>?) -> [String] {
    var oracle = SimulationOracle()
    let writes: [(value: String, saw: String?)] = [("v1", nil), ("v2", "v1")]
    for (time, (value, saw)) in writes.enumerated() {
      var draft = SimulationOracle.Draft()
      let write = SimulationOracle.Write(
        value: value, place: "item k1 value", record: "k1", store: "b", time: time)
      draft.writes = [(write, saw)]
      oracle.acknowledge(draft, in: "b", at: time)
    }
    oracle.keep("k1", in: Self.picture("v1"), of: "c", replacing: names)
    return oracle.faults(in: Self.picture("v2"), journal: [])
  }

  @Test func whatAnOperatorDoesNotWriteAnewIsReplacedByWhatReplacedIt() {
    #expect(faults(keeping: ["other"]) == [])
    #expect(faults(keeping: ["value"]).map { $0.prefix(14) } == ["lost write: v1"])
    #expect(faults(keeping: nil).map { $0.prefix(14) } == ["lost write: v1"])
  }

  /// What the oracle finds where all stores have an item without a parent in the end, which a program of `b` had given
  /// one, and an operator of `c` has kept as it was there.
  private func faults(replacing names: Set<String>?, keptWith parent: String? = nil) -> [String] {
    var oracle = SimulationOracle()
    var picture = StorePicture()
    picture.items["k1"] = StorePicture.Item()
    var draft = SimulationOracle.Draft()
    draft.set["parent k1"] = "k2"
    oracle.acknowledge(draft, in: "b", at: 1)
    var kept = picture
    kept.items["k1"]?.parent = parent
    oracle.keep("k1", in: kept, of: "c", replacing: names)
    return oracle.faults(in: picture, journal: [])
  }

  @Test func whatAnOperatorKeepsWithoutAReferenceMayHaveNone() {
    #expect(faults(replacing: ["parent"]) == [])
    #expect(faults(replacing: nil) == [])
  }

  @Test func aReferenceThatNoOperatorHasTakenAwayIsLost() {
    for found in [faults(replacing: ["value"]), faults(replacing: nil, keptWith: "k3")] {
      #expect(found.map { $0.prefix(21) } == ["invented: parent k1 is"].map { $0.prefix(21) })
    }
  }

  /// A store has `v1` of `b`, and deletes the record; a migration there dropped the value before, unless told otherwise.
  private func faultsOfDelete(isDropped: Bool = true) -> [String] {
    var oracle = SimulationOracle()
    var insertion = SimulationOracle.Draft()
    let write = SimulationOracle.Write(
      value: "v1", place: "item k1 value", record: "k1", store: "b", time: 1)
    insertion.writes = [(write, nil)]
    oracle.acknowledge(insertion, in: "b", at: 1)
    if isDropped { oracle.drop(["v1"], from: "c") }
    var deletion = SimulationOracle.Draft()
    deletion.deletes = [.init(record: "k1", store: "c", time: 2, seen: [])]
    oracle.acknowledge(deletion, in: "c", at: 2)
    return oracle.faults(in: StorePicture(), journal: [])
  }

  @Test func whoDeletesWhatAMigrationHasTakenValuesOfDeletesThemToo() {
    #expect(faultsOfDelete() == [])
  }

  @Test func aDeleteDoesNotTakeWhatItsStoreNeverHad() {
    #expect(faultsOfDelete(isDropped: false).map { $0.prefix(14) } == ["lost write: v1"])
  }
}
