import Testing

@testable import CairnSync

struct CulpritTrialTests {
  /// Which records stay out, and how many attempts that takes.
  func search(_ ids: Set<RecordID>, bad: Set<RecordID>, _ attempts: inout Int) -> Set<RecordID> {
    var trial = CulpritTrial(ids)
    while true {
      attempts += 1
      if !ids.subtracting(trial.left).isDisjoint(with: bad) {
        let goesOn = trial.next()
        #expect(goesOn)
        continue
      }
      if trial.parts.isEmpty { return trial.left }
      return trial.parts.reduce(into: []) { $0.formUnion(search($1, bad: bad, &attempts)) }
    }
  }

  @Test func onlyTheRecordsToBlameStayOutAfterFewAttempts() {
    var generator = SeededGenerator(seed: 9)
    for size in [1, 2, 3, 10, 500] {
      let ids = Set((0..<size).map { RecordID(high: 0, low: UInt64($0)) })
      #expect(CulpritTrial(ids).left.isEmpty && CulpritTrial(ids).parts.isEmpty)
      for count in 1...min(3, size) {
        let bad = Set(ids.sorted().shuffled(using: &generator).prefix(count))
        var attempts = 0
        #expect(search(ids, bad: bad, &attempts) == bad)
        #expect(attempts <= 45 * count)
      }
    }
  }

  @Test func aFailureThatIsNoRecordsFaultIsNotBlamedOnOne() {
    var empty = CulpritTrial([RecordID]())
    let isOver = !empty.next()
    #expect(isOver)
    var trial = CulpritTrial((1...4).map { RecordID(high: 0, low: $0) })
    let answers = (0..<4).map { _ in trial.next() }
    #expect(answers == [true, true, true, false] && trial.left.count == 4)
  }
}
