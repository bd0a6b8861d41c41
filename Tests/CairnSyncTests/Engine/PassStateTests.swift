// A pass as a pure state: what it does next after each outcome.

import Testing

@testable import CairnSync

struct PassStateTests {
  func steps(_ direction: SyncDirection) -> [PassState.Step] {
    var machine = PassState(direction: direction)
    var steps: [PassState.Step] = []
    while let step = machine.step, steps.count < 20 {
      steps.append(step)
      switch step {
      case .identify: machine.take(.identified)
      case .captureLocal, .captureReplica: machine.take(.captured)
      case .retryHeld: machine.take(.retried)
      case .move: machine.take(steps.filter { $0 == step }.count < 2 ? .moved : .drained)
      }
    }
    return steps
  }

  @Test func bothSidesAreIdentifiedCapturedThenPulledAndPushedUntilDry() {
    #expect(
      steps(.both) == [
        .identify, .captureLocal, .captureReplica, .retryHeld(.pull), .move(.pull), .move(.pull),
        .retryHeld(.push), .move(.push), .move(.push), .move(.pull),
      ])
    #expect(steps(.pull).contains(.move(.push)) == false)
    #expect(steps(.push).contains(.move(.pull)) == false)
  }

  @Test func anEventOfAnotherStepChangesNothing() {
    var machine = PassState(direction: .both)
    for event in [PassState.Event.moved, .drained, .retried] { machine.take(event) }
    #expect(machine.step == .identify)
  }

  @Test func waitsDoubleUpToTheLimitAndAreSpread() {
    let backoff = Backoff(first: .seconds(1), longest: .seconds(60))
    #expect(backoff.delay(afterFailures: 1, random: 0) == .milliseconds(500))
    #expect(backoff.delay(afterFailures: 3, random: 0) == .seconds(2))
    #expect(backoff.delay(afterFailures: 30, random: 0) == .seconds(30))
    let most = backoff.delay(afterFailures: 30, random: .max)
    #expect(most > .seconds(59) && most <= .seconds(60))
  }

  @Test func aPausedLinkSleepsUntilResumedAndAFailedOneUntilToldTo() {
    var life = LinkLife()
    #expect(life.next(isOpen: false, now: 0) == .open)
    life.opened()
    #expect(life.next(isOpen: true, now: 0) == .pass)
    life.pause()
    life.completePass(now: 1)
    #expect(life.phase == .paused && life.next(isOpen: true, now: 1) == .sleep(milliseconds: nil))
    life.resume(isOpen: true)
    let trouble = SyncError(.storeUnavailable, "gone", recovery: .wait)
    life.fail(trouble, now: 10) { UInt64($0) * 100 }
    #expect(life.next(isOpen: true, now: 20) == .sleep(milliseconds: 90))
    #expect(life.next(isOpen: true, now: 110) == .pass)
    life.fail(SyncError(.incompatibleModel, "older", recovery: .person), now: 10) { _ in 1 }
    #expect(life.next(isOpen: true, now: 1 << 40) == .sleep(milliseconds: nil))
    life.retry(isOpen: true)
    #expect(life.next(isOpen: true, now: 0) == .pass)
    life.remove()
    #expect(life.next(isOpen: true, now: 0) == .stop)
  }

  @Test func aClockThatIsSetBackMakesNoWaitLonger() {
    var life = LinkLife()
    life.opened()
    let year: UInt64 = 31_536_000_000
    life.fail(SyncError(.storeUnavailable, "gone", recovery: .wait), now: year) { _ in 100 }
    #expect(life.next(isOpen: true, now: year + 40) == .sleep(milliseconds: 60))
    #expect(life.next(isOpen: true, now: 40) == .pass)
  }

  @Test func aLinkThatGoesOnBeforeItsReplicaIsOpenIsNotCalledReady() {
    var life = LinkLife()
    life.pause()
    life.resume(isOpen: false)
    #expect(life.phase == .opening && life.next(isOpen: false, now: 0) == .open)
    life.fail(SyncError(.storeUnavailable, "gone", recovery: .wait), now: 10) { _ in 100 }
    life.retry(isOpen: false)
    #expect(life.phase == .opening)
  }

  @Test func aPassServesOnlyTheRequestsMadeBeforeItBegan() {
    var life = LinkLife()
    life.opened()
    let first = life.request()
    life.beginPass()
    let second = life.request()
    life.completePass(began: 3, now: 9)
    #expect(life.completed >= first && life.completed < second)
    #expect(life.lastPass == 9 && life.lastPassBegan == 3, "what came meanwhile waits since then")
  }
}
