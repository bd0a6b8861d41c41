@testable import Cairn
import Foundation
import ParitySamples
import Testing

/// Chapters 24 and 25: random predicates over nasty rows, asked three ways.
@Suite struct RandomParityTests {
  @Test func randomPredicatesAgree() throws {
    let seed =
      ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 1...UInt64.max)
    print("RandomParityTests seed \(seed)")
    let fixture = try ParityFixture(seed: seed, count: 40)
    var maker = ParityPredicates(seed: seed)
    for _ in 0..<250 {
      let predicate = maker.predicate(depth: 3)
      let answers = fixture.answers(predicate)
      guard answers.agree else {
        Issue.record("seed \(seed): \(predicate): \(answers)")
        continue
      }
    }
  }
}
