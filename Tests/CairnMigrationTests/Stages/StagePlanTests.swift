// Which steps a staged migration takes: core-data-semantics chapter 22.6.

import Testing

@testable import CairnMigration

@Suite struct StagePlanTests {
  private let stages: [StagePlan.Stage] = [
    .lightweight(["a", "b"]), .custom(from: "b", to: "c"), .lightweight(["c", "d"]),
  ]

  private func steps(_ from: String, _ to: String) throws -> [String] {
    try StagePlan(stages: stages, from: from, to: to).steps.map {
      "\($0.from)\($0.to)\($0.stage)\($0.isCustom ? "!" : "")"
    }
  }

  @Test func everyVersionIsPassedInOrder() throws {
    #expect(try steps("a", "d") == ["ab0", "bc1!", "cd2"])
  }

  @Test func stagesBeforeTheStoresVersionAreSkipped() throws {
    #expect(try steps("b", "d") == ["bc1!", "cd2"])
    #expect(try steps("c", "d") == ["cd2"])
    #expect(try steps("d", "d") == [])
  }

  @Test func stagesAfterTheProgramsVersionAreNotReached() throws {
    #expect(try steps("a", "c") == ["ab0", "bc1!"])
  }

  @Test func aProgramBeyondTheLastStageEndsThere() throws {
    #expect(try steps("c", "z") == ["cd2"])
  }

  @Test func anUnknownVersionIsAProblem() {
    #expect(throws: StagePlan.Problem.unknownVersion) { try steps("x", "d") }
  }

  @Test func aStoreNewerThanTheProgramIsAProblem() {
    #expect(throws: StagePlan.Problem.backwards) { try steps("d", "b") }
  }

  @Test func aGapBetweenStagesIsALightStep() throws {
    let plan = try StagePlan(
      stages: [.lightweight(["a"]), .custom(from: "b", to: "c")], from: "a", to: "c")
    #expect(plan.steps.map(\.isCustom) == [false, true])
  }
}
