import Testing

@testable import CairnSync

/// Planning again, leaving out and finding the culprit, as a value.
struct ImportAttemptTests {
  static let ids = (1...8).map { RecordID(high: 0, low: $0) }

  private func left(_ attempt: ImportAttempt) -> Set<RecordID>? {
    guard case .attempt(let refused, _) = attempt.step else { return nil }
    return Set(refused.keys)
  }

  @Test func theFirstAttemptLeavesNothingOut() {
    #expect(ImportAttempt(Self.ids, limit: 3).step == .attempt(leavingOut: [:], linksOf: [:]))
    #expect(ImportAttempt(Self.ids, limit: 3).parts.isEmpty)
  }

  @Test func otherWritersMakeItPlanAgainSoManyTimes() {
    var attempt = ImportAttempt(Self.ids, limit: 3)
    for number in 1...2 {
      attempt.take(.overtaken)
      #expect(attempt.step == .attempt(leavingOut: [:], linksOf: [:]) && attempt.replans == number)
    }
    attempt.take(.overtaken)
    #expect(attempt.step == .contended)
  }

  @Test func whatIsRefusedByNameIsLeftOutWithTheReason() {
    var attempt = ImportAttempt(Self.ids, limit: 3)
    attempt.take(.invalid([Self.ids[2]: "too long"], "all"))
    #expect(attempt.step == .attempt(leavingOut: [Self.ids[2]: "too long"], linksOf: [:]))
    attempt.take(.invalid([Self.ids[5]: "too short"], "all"))
    #expect(left(attempt) == [Self.ids[2], Self.ids[5]] && attempt.replans == 0)
  }

  @Test func aFailureWithoutANameIsHuntedByHalves() {
    var attempt = ImportAttempt(Self.ids, limit: 3)
    attempt.take(.unknown("no"))
    #expect(left(attempt) == Set(Self.ids[..<4]) && attempt.parts == [Set(Self.ids[..<4])])
    attempt.take(.unknown("no"))
    #expect(left(attempt) == Set(Self.ids[4...]))
    attempt.take(.unknown("no"))
    #expect(left(attempt) == Set(Self.ids) && attempt.parts.count == 2)
    attempt.take(.unknown("no"))
    #expect(attempt.step == .failed)
  }

  @Test func aRefusalOfWhatIsLeftOutAlreadyIsThatOfItsLinksThenAFailureWithoutAName() {
    var attempt = ImportAttempt(Self.ids, limit: 3)
    let refusal = [Self.ids[2]: "too long"]
    for linksOf in [[:], refusal] {
      attempt.take(.invalid(refusal, "all"))
      #expect(attempt.step == .attempt(leavingOut: refusal, linksOf: linksOf))
    }
    attempt.take(.invalid(refusal, "all"))
    #expect(left(attempt) == Set(Self.ids[..<4]))
  }

  @Test func ofARecordThatDidNotComeInOnlyTheLinksAreLeftOut() {
    var attempt = ImportAttempt([], limit: 3)
    attempt.take(.invalid([Self.ids[0]: "too long"], "all"))
    #expect(attempt.step == .attempt(leavingOut: [:], linksOf: [Self.ids[0]: "too long"]))
    attempt.take(.invalid([Self.ids[0]: "too long"], "all"))
    #expect(attempt.step == .failed)
  }

  @Test func aCollisionThatComesBackIsARecordsFault() {
    var attempt = ImportAttempt(Self.ids, limit: 12)
    for _ in 1...3 {
      attempt.take(.collision("name"))
      #expect(left(attempt) == [])
    }
    attempt.take(.collision("name"))
    #expect(left(attempt) == Set(Self.ids[..<4]) && attempt.replans == 0)
  }

  @Test func collisionsAreNotOtherWritersAndEndAllTheSame() {
    var attempt = ImportAttempt(Self.ids, limit: 3)
    for _ in 1...6 { attempt.take(.collision("name")) }
    #expect(left(attempt) == Set(Self.ids) && attempt.parts.count == 2 && attempt.replans == 0)
    attempt.take(.collision("name"))
    #expect(attempt.step == .failed)
  }

  @Test func aSetWithoutRecordsHasNobodyToBlame() {
    var attempt = ImportAttempt([], limit: 3)
    attempt.take(.unknown("disk"))
    #expect(attempt.step == .failed)
  }
}
