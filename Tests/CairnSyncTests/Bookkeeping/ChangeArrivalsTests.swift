import Testing

@testable import CairnSync

/// How long a change has been there is told from its number: never too short, and exactly for the newest.
struct ChangeArrivalsTests {
  @Test func aNumberThatThisProcessHasNotGivenHasNoTime() {
    let arrivals = ChangeArrivals()
    #expect(arrivals.time(after: 0) == nil)
    arrivals.note(8...9, at: 100)
    #expect(arrivals.time(after: 6) == nil)
    #expect(arrivals.time(after: 7) == 100)
    #expect(arrivals.time(after: 8) == 100)
    #expect(arrivals.time(after: 9) == nil)
  }

  @Test func whatAnotherProcessGaveInBetweenCountsAsOldAsWhatWasBefore() {
    let arrivals = ChangeArrivals()
    arrivals.note(1...1, at: 100)
    arrivals.note(5...5, at: 200)
    #expect(arrivals.time(after: 1) == 100)
    #expect(arrivals.time(after: 3) == 100)
    #expect(arrivals.time(after: 4) == 200)
  }

  @Test func aStoreThatWentBackInTimeBeginsAnew() {
    let arrivals = ChangeArrivals()
    for number in 1...9 as ClosedRange<UInt64> { arrivals.note(number...number, at: number * 100) }
    arrivals.note(4...4, at: 2000)
    #expect(arrivals.time(after: 2) == nil)
    #expect(arrivals.time(after: 3) == 2000)
  }

  @Test func ofManyTheNewestHaveTheirOwnTimes() {
    let arrivals = ChangeArrivals()
    let count: UInt64 = 5000
    for number in 1...count { arrivals.note(number...number, at: number * 100) }
    for number in (count - 60)...count {
      #expect(arrivals.time(after: number - 1) == number * 100)
    }
    for number in 1...count {
      let time = arrivals.time(after: number - 1)
      #expect(time.map { $0 > 0 && $0 <= number * 100 } == true, "\(number)")
    }
  }
}
