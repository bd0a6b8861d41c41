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
}
