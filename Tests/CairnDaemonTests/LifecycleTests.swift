// The daemon's life as a value: events in, actions out.
import CairnControl
import Testing

@testable import CairnDaemon

@Suite struct LifecycleTests {
  private let locked = StatusProblem(code: "storeLocked", message: "the store is locked")

  private func serving() -> DaemonLifecycle {
    var life = DaemonLifecycle()
    _ = life.handle(.controlListening)
    _ = life.handle(.engineStarted())
    return life
  }

  @Test func readyComesOnceWhenSocketAndEngineAreThereInEitherOrder() {
    var life = DaemonLifecycle()
    #expect(life.handle(.controlListening) == [])
    #expect(life.handle(.engineStarted()) == [.notifyReady, .notifyStatus("Serving")])
    #expect(life.handle(.engineStarted()) == [.notifyStatus("Serving")])
    var other = DaemonLifecycle()
    #expect(other.handle(.engineStarted()) == [])
    #expect(other.handle(.controlListening) == [.notifyReady, .notifyStatus("Serving")])
    #expect(other.state == .serving)
  }

  @Test func anEngineThatCannotStartMakesADegradedDaemonThatIsUpAndTriesAgain() {
    var life = DaemonLifecycle()
    _ = life.handle(.controlListening)
    #expect(
      life.handle(.engineFailed(locked, isTransient: true)) == [
        .logDegraded([locked]), .notifyReady, .notifyStatus("Degraded: the store is locked"),
        .retryEngine(after: .seconds(1)),
      ])
    #expect(
      life.handle(.engineFailed(locked, isTransient: true)) == [.retryEngine(after: .seconds(2))])
    #expect(life.handle(.engineStarted()) == [.logRecovered, .notifyStatus("Serving")])
    #expect(life.problems.isEmpty)
  }

  @Test func anEngineThatStartsWithAProblemIsNotWorkingAgain() {
    let bad = StatusProblem(code: "not-a-store", message: "nas: no store")
    var life = DaemonLifecycle()
    _ = life.handle(.controlListening)
    _ = life.handle(.engineFailed(locked, isTransient: true))
    #expect(life.handle(.summary("1 replica", problems: [])) == [], "of an engine that has failed")
    #expect(
      life.handle(.engineStarted(problems: [bad])) == [
        .logDegraded([bad]), .notifyStatus("Degraded: nas: no store"),
      ])
    // Another engine, in its place.
    #expect(
      life.handle(.engineStarted(problems: [bad])) == [.notifyStatus("Degraded: nas: no store")])
    #expect(life.handle(.engineStarted()) == [.logRecovered, .notifyStatus("Serving")])
    var other = DaemonLifecycle()
    _ = other.handle(.summary("1 replica", problems: [bad]))
    #expect(
      other.handle(.engineStarted(problems: [bad])) == [.logDegraded([bad])], "said once, and said")
    #expect(
      other.handle(.controlListening) == [
        .notifyReady, .notifyStatus("Degraded, 1 replica: nas: no store"),
      ])
  }

  @Test func retriesSlowDownToALimit() {
    var life = DaemonLifecycle()
    var last: [DaemonLifecycle.Action] = []
    for _ in 0..<100 { last = life.handle(.engineFailed(locked, isTransient: true)) }
    #expect(last == [.retryEngine(after: DaemonLifecycle.longestRetryDelay)])
  }

  @Test func aStoreThatAnotherDaemonHasIsLookedAtOften() {
    var life = DaemonLifecycle()
    let taken = StatusProblem(code: EngineFailure.storeTaken, message: "another cairnd serves it")
    var last: [DaemonLifecycle.Action] = []
    for _ in 0..<100 { last = life.handle(.engineFailed(taken, isTransient: true)) }
    #expect(last == [.retryEngine(after: DaemonLifecycle.takeoverDelay)])
    #expect(DaemonLifecycle.takeoverDelay < DaemonLifecycle.longestRetryDelay)
  }

  @Test func aLastingFailureIsNotTriedAgain() {
    var life = DaemonLifecycle()
    let actions = life.handle(.engineFailed(locked, isTransient: false))
    #expect(actions == [.logDegraded([locked])])
  }

  @Test func progressWhileStartingBuysTime() {
    var life = DaemonLifecycle()
    #expect(
      life.handle(.progress("Migrating, 40 %")) == [
        .extendTimeout(DaemonLifecycle.extensionStep), .notifyStatus("Migrating, 40 %"),
      ])
  }

  @Test func theSummaryIsShownWhenItChanges() {
    var life = serving()
    #expect(
      life.handle(.summary("2 replicas", problems: [])) == [.notifyStatus("Serving, 2 replicas")])
    #expect(life.handle(.summary("2 replicas", problems: [])) == [])
    #expect(
      life.handle(.summary("2 replicas, 1 behind", problems: [locked])) == [
        .logDegraded([locked]),
        .notifyStatus("Degraded, 2 replicas, 1 behind: the store is locked"),
      ])
    #expect(life.state == .degraded(hasEngine: true))
    #expect(
      life.handle(.summary("2 replicas", problems: [])) == [
        .logRecovered, .notifyStatus("Serving, 2 replicas"),
      ])
  }

  @Test func theFirstStopDrainsAndTheSecondAborts() {
    var life = serving()
    let actions = life.handle(.stopRequested)
    #expect(actions.first == .notifyStopping)
    // Whatever the unit allows, the daemon gets the time in which it ends by itself.
    #expect(
      actions.contains(
        .extendTimeout(DaemonLifecycle.longestStop + DaemonLifecycle.stopMargin)))
    #expect(life.state == .draining)
    #expect(life.handle(.stopRequested).last == .abort)
    #expect(life.handle(.engineFailed(locked, isTransient: true)) == [])
    #expect(life.handle(.engineStopped) == [.notifyStatus("Stopped")])
    #expect(life.handle(.stopRequested) == [])
  }

  @Test func aReloadAlwaysEndsAndSaysHow() {
    var life = serving()
    #expect(life.handle(.reloadRequested) == [.reload])
    #expect(life.handle(.reloadBegan) == [.notifyReloading])
    #expect(
      life.handle(.reloadEnded(problem: nil)) == [.notifyReloaded, .notifyStatus("Serving")])
    #expect(
      life.handle(.reloadEnded(problem: "not reloaded")) == [
        .notifyReloaded, .notifyStatus("Serving; not reloaded"),
      ])
    var starting = DaemonLifecycle()
    #expect(starting.handle(.reloadRequested) == [])
  }

  @Test func progressBuysTimeWhileSystemdWaitsForAReload() {
    var life = serving()
    let text = "Migrating, 40 %"
    #expect(life.handle(.progress(text)) == [.notifyStatus(text)])
    _ = life.handle(.reloadBegan)
    #expect(
      life.handle(.progress(text, buying: .seconds(90))) == [
        .extendTimeout(.seconds(90)), .notifyStatus(text),
      ])
    _ = life.handle(.reloadEnded(problem: nil))
    #expect(life.handle(.progress(text)) == [.notifyStatus(text)])
  }

  @Test func anOverdueProbeIsSaidOnce() {
    var life = serving()
    #expect(life.handle(.probeAnswered) == [])
    #expect(life.handle(.probeOverdue).count == 1)
    #expect(life.handle(.probeOverdue) == [])
    #expect(life.handle(.probeAnswered) == [.notifyStatus("Serving")])
  }
}
