// What feeds the watchdog, as a value.
import Testing

@testable import CairnDaemon

@Suite struct WorkWatchTests {
  private typealias Look = WorkWatch.Look
  private static let idle = Look(isPending: false, signs: 0)

  /// A watch of 30 s that began a round at 0 with these queues.
  private func begun(_ looks: [WorkWatch.Queue: WorkWatch.Look]) -> WorkWatch {
    var watch = WorkWatch(interval: .seconds(30))
    watch.begin(looks, at: .zero)
    return watch
  }

  @Test func queuesWithoutWorkFeed() {
    var watch = begun([
      .control: Self.idle, .reads: Self.idle, .writes: Self.idle, .link("r"): Self.idle,
    ])
    watch.take(
      [.control: Self.idle, .reads: Self.idle, .writes: Self.idle, .link("r"): Self.idle],
      at: .seconds(10))
    #expect(watch.stuck(at: .seconds(10)) == [])
  }

  @Test(arguments: [WorkWatch.Queue.control, .reads, .writes])
  func oneStuckQueueKeepsItFromBeingFedWhateverTheOthersDo(_ queue: WorkWatch.Queue) {
    var looks: [WorkWatch.Queue: Look] = [
      .control: Look(isPending: true, signs: 1), .reads: Look(isPending: true, signs: 1),
      .writes: Look(isPending: true, signs: 1), .link("r"): Look(isPending: true, signs: 1),
    ]
    var watch = begun(looks)
    for second in 1...100 {
      for other in looks.keys where other != queue { looks[other]?.signs += 1 }
      watch.take(looks, at: .seconds(second))
      #expect(watch.stuck(at: .seconds(second)) == [queue])
    }
    looks[queue]?.isPending = false
    watch.take(looks, at: .seconds(101))
    #expect(watch.stuck(at: .seconds(101)) == [])
  }

  @Test func workOfMinutesThatGetsOnFeeds() {
    var watch = begun([.writes: Look(isPending: true, signs: 0)])
    for round in 1...60 {
      let now = Duration.seconds(round * 10)
      watch.take([.writes: Look(isPending: true, signs: round * 2)], at: now)
      #expect(watch.stuck(at: now) == [])
      watch.begin([.writes: Look(isPending: true, signs: round * 2 + 1)], at: now + .seconds(5))
    }
  }

  @Test func aSignFromBeforeTheRoundIsNone() {
    var watch = begun([.writes: Look(isPending: true, signs: 1)])
    watch.take([.writes: Look(isPending: true, signs: 2)], at: .seconds(1))
    #expect(watch.stuck(at: .seconds(1)) == [])
    // A write whose turn comes between two rounds gives a sign, and hangs in its disk.
    watch.begin([.writes: Look(isPending: true, signs: 3)], at: .seconds(6))
    watch.take([.writes: Look(isPending: true, signs: 3)], at: .seconds(7))
    #expect(watch.stuck(at: .seconds(7)) == [.writes])
    watch.take([.writes: Look(isPending: true, signs: 4)], at: .seconds(8))
    #expect(watch.stuck(at: .seconds(8)) == [])
  }

  @Test func aLinkIsStuckAfterTenIntervalsIfItsReplicaAnswers() {
    let link = WorkWatch.Queue.link("r")
    var watch = begun([link: Look(isPending: true, signs: 4)])
    for (second, isStuck) in [(29, false), (31, false), (299, false), (301, true)] {
      let now = Duration.seconds(second)
      watch.take([link: Look(isPending: true, signs: 4)], at: now)
      #expect(watch.stuck(at: now) == (isStuck ? [link] : []))
      #expect(watch.silentLinks(at: now) == (second < 30 ? [] : ["r"]))
      watch.begin([link: Look(isPending: true, signs: 4)], at: now)
    }
    watch.take([link: Look(isPending: true, signs: 5)], at: .seconds(302))
    #expect(watch.stuck(at: .seconds(302)) == [])
  }

  @Test func aReplicaThatHangsIsNoReasonToKillTheDaemon() {
    let link = WorkWatch.Queue.link("r")
    var watch = begun([link: Look(isPending: true, signs: 4)])
    watch.take([link: Look(isPending: true, signs: 4, isAnswered: false)], at: .seconds(10_000))
    #expect(watch.stuck(at: .seconds(10_000)) == [])
    // It answers again, and the link does not notice.
    watch.take([link: Look(isPending: true, signs: 4)], at: .seconds(10_001))
    #expect(watch.stuck(at: .seconds(10_001)) == [link])
  }

  @Test func aQueueThatIsGoneIsForgotten() {
    var watch = begun([
      .writes: Look(isPending: true, signs: 1), .link("r"): Look(isPending: true, signs: 1),
    ])
    watch.take([.control: Self.idle], at: .seconds(1000))
    #expect(watch.stuck(at: .seconds(1000)) == [])
    #expect(watch.silentLinks(at: .seconds(1000)) == [])
    // A queue of the same name is another one.
    watch.take(
      [.control: Self.idle, .link("r"): Look(isPending: true, signs: 1)], at: .seconds(1001))
    #expect(watch.silentLinks(at: .seconds(1001)) == [])
  }
}
