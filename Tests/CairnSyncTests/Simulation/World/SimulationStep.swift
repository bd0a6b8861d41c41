@testable import CairnSync

/// One thing that happens in a simulation.
///
/// Each step draws what it leaves open from its own `salt`, so that leaving steps out changes no other.
struct SimulationStep: Hashable, Sendable, CustomStringConvertible {
  enum Kind: String, CaseIterable, Sendable {
    case write, turns, advance
    case die, start, stop, upgrade, interrupt
    case trouble, heal, backUp, restore, exchange, takeAway, bringBack, lose
    /// Another program migrates a file to a version without some of its values, and back.
    case narrow
    case clock, clockRight, purge, purgeBySync, redirect
    case wait, verify, pause, resume
    case accept, approve, discard, repair, revert, takeBack
    case exceed
    /// A daemon is configured anew: from now on it goes by another policy of deletes.
    case configure
    /// Something happens to a log, or to the line to a daemon.
    case member
  }
  let kind: Kind
  let salt: UInt64

  var description: String { "\(kind.rawValue) \(salt)" }

  /// How often each kind comes, and which seeds have it: each seed draws a part of the trouble, so that
  /// some go deep into one kind of it.
  private static let rare: [(kind: Kind, weight: Int)] = [
    (.die, 10), (.stop, 3), (.trouble, 6), (.backUp, 5), (.restore, 4), (.exchange, 3),
    (.takeAway, 4), (.lose, 2), (.clock, 4), (.purge, 3), (.upgrade, 4), (.pause, 3),
    (.interrupt, 10), (.purgeBySync, 12), (.redirect, 6),
  ]
  private static let mending: [Kind: [(kind: Kind, weight: Int)]] = [
    .trouble: [(.heal, 6)], .takeAway: [(.bringBack, 5)], .clock: [(.clockRight, 4)],
    .pause: [(.resume, 4)],
  ]

  static func plan(seed: UInt64, count: Int) -> [SimulationStep] {
    var generator = SeededGenerator(seed: seed &* 2 &+ 1)
    var weights: [(kind: Kind, weight: Int)] = [
      (.write, 40), (.turns, 60), (.advance, 25), (.start, 8), (.wait, 5), (.verify, 3),
    ]
    for (kind, weight) in rare where generator.chance(40) {
      weights.append((kind, weight))
      weights += mending[kind] ?? []
      if kind == .restore { weights.append((.backUp, 5)) }
    }
    let total = weights.reduce(0) { $0 + $1.weight }
    var steps = (0..<count).map { _ in
      var place = Int.random(in: 0..<total, using: &generator)
      let kind = weights.first {
        place -= $0.weight
        return place < 0
      }?.kind
      return SimulationStep(kind: kind ?? .turns, salt: generator.next())
    }
    steps = withPolicies(withOperators(withMembers(steps, seed: seed), seed: seed), seed: seed)
    return withDrops(steps, seed: seed)
  }

  /// Drawn apart from all else: some seeds have versions of the model that are taken back.
  private static func withDrops(_ steps: [SimulationStep], seed: UInt64) -> [SimulationStep] {
    var generator = SeededGenerator(seed: seed &* 19 &+ 12)
    guard Simulation.member == nil, generator.chance(30) else { return steps }
    var steps = steps
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let place = Int.random(in: 0...steps.count, using: &generator)
      steps.insert(SimulationStep(kind: .narrow, salt: generator.next()), at: place)
    }
    return steps
  }

  /// Drawn apart from all else, as operators are: some seeds have daemons whose policies change and differ.
  private static func withPolicies(_ steps: [SimulationStep], seed: UInt64) -> [SimulationStep] {
    var generator = SeededGenerator(seed: seed &* 17 &+ 10)
    guard generator.chance(35) else { return steps }
    var steps = steps
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      let place = Int.random(in: 0...steps.count, using: &generator)
      steps.insert(SimulationStep(kind: .configure, salt: generator.next()), at: place)
    }
    return steps
  }

  /// What is not tried where links lead to logs or daemons: see README.md.
  private static let withoutMembers: Set<Kind> = [.purge, .purgeBySync, .upgrade, .redirect]

  private static func withMembers(_ steps: [SimulationStep], seed: UInt64) -> [SimulationStep] {
    if Simulation.member == nil { return steps }
    var generator = SeededGenerator(seed: seed &* 11 &+ 9)
    var steps = steps.filter { !withoutMembers.contains($0.kind) }
    for _ in 0..<Int.random(in: 0...16, using: &generator) {
      let place = Int.random(in: 0...steps.count, using: &generator)
      steps.insert(SimulationStep(kind: .member, salt: generator.next()), at: place)
    }
    return steps
  }

  /// Whether a seed has operators who decide about what waits, repair and take back: half of them.
  ///
  /// That is drawn apart from all else: what goes on without them does not depend on it.
  static func hasOperators(seed: UInt64) -> Bool {
    if Simulation.member != nil { return false }
    var generator = SeededGenerator(seed: seed &* 5 &+ 4)
    return generator.chance(50)
  }

  private static let acts: [Kind] = [.accept, .approve, .discard, .repair, .revert, .takeBack]

  private static func withOperators(_ steps: [SimulationStep], seed: UInt64) -> [SimulationStep] {
    guard hasOperators(seed: seed) else { return steps }
    var generator = SeededGenerator(seed: seed &* 7 &+ 6)
    var steps = steps
    for kind in acts where generator.chance(60) {
      for _ in 0..<Int.random(in: 2...6, using: &generator) {
        let place = Int.random(in: 0...steps.count, using: &generator)
        steps.insert(SimulationStep(kind: kind, salt: generator.next()), at: place)
      }
    }
    guard hasLaxPrograms(seed: seed) else { return steps }
    for _ in 0..<Int.random(in: 3...6, using: &generator) {
      // There is something to write to by then.
      let place = Int.random(in: steps.count / 5...steps.count * 4 / 5, using: &generator)
      steps.insert(SimulationStep(kind: .exceed, salt: generator.next()), at: place)
    }
    return steps
  }

  /// Whether a seed with operators has programs that write what all other stores refuse: a part of them.
  private static func hasLaxPrograms(seed: UInt64) -> Bool {
    var generator = SeededGenerator(seed: seed &* 13 &+ 8)
    return generator.chance(35)
  }
}
