// Daemons that share the replica `hub` and import into it at the same time while something kills them.
import CairnControl
import CairnTesting
import Foundation
import Synchronization
import Testing

/// Imports through several daemons, with kills at random, and the proof that nothing answered is lost.
struct SharedImport {
  let daemons: [Daemon]
  let seed: UInt64

  init(_ daemons: [Daemon]) {
    self.daemons = daemons
    let given = ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
    seed = given ?? UInt64.random(in: 0 ... .max)
    print("seed \(seed) (CAIRN_TEST_SEED=\(seed) repeats the kills)")
  }

  /// What the importers have been told is saved, and whether they are to end.
  private final class Progress: Sendable {
    private let names = Mutex<Set<String>>([])
    private let isEnding = Mutex(false)
    func add(_ more: [String]) { names.withLock { $0.formUnion(more) } }
    func end() { isEnding.withLock { $0 = true } }
    var acknowledged: Set<String> { names.withLock { $0 } }
    var isOver: Bool { isEnding.withLock { $0 } }
  }

  /// The same numbers for the same seed.
  struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }

  /// - Parameter strike: What else goes down each time.
  func run(strike: @escaping @Sendable (inout Numbers) async throws -> Void = { _ in }) async throws
  {
    let progress = Progress()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for daemon in daemons {
        group.addTask { try await offPool { Self.importAll(through: daemon, progress) } }
      }
      group.addTask {
        var numbers = Numbers(state: seed)
        for _ in 0..<4 {
          // The pause decides where in their work the kill hits them.
          try await Task.sleep(for: .milliseconds(Int.random(in: 150...900, using: &numbers)))
          let victims =
            Int.random(in: 0..<4, using: &numbers) == 0
            ? daemons : [daemons[Int.random(in: 0..<2, using: &numbers)]]
          for victim in victims { victim.kill() }
          try await strike(&numbers)
          for victim in victims { try await victim.start() }
        }
        progress.end()
      }
      try await group.waitForAll()
    }
    let expected = progress.acknowledged
    #expect(expected.count > 100, "too little was imported to mean anything, seed \(seed)")

    // What one of them still brings comes in parts, and the other says of some that it waits for the rest.
    for daemon in daemons { _ = try await daemon.ctl("wait", "--timeout", "120") }
    // Twice each: what the second took over from the first has to come back too.
    for daemon in daemons + daemons {
      let waited = try await daemon.ctl("wait", "--timeout", "120")
      #expect(waited.code == 0, "seed \(seed): \(waited.errors) \(daemon.log(last: 5))")
    }
    for entity in ["Package", "Section", "Maintainer"] {
      let own = try await daemons[0].values(entity, "name")
      #expect(Set(own).count == own.count, "seed \(seed): a name comes twice in \(entity)")
      #expect(try await daemons[1].values(entity, "name") == own, "seed \(seed): \(entity)")
      for daemon in daemons {
        #expect(try await daemon.values(entity, "name", store: "hub") == own, "seed \(seed)")
      }
      if entity == "Package" {
        #expect(expected.subtracting(own).isEmpty, "seed \(seed): answered and lost")
      }
    }
    for daemon in daemons {
      let verified = try await daemon.ctl("verify")
      #expect(verified.code == 0, "seed \(seed): \(verified.output)\(verified.errors)")
      #expect(await daemon.stop() == 0)
    }
  }

  /// So many batches at most: on a busy machine starting takes long, and the importers would make
  /// more work meanwhile than can be waited for.
  private static let batchLimit = 500

  /// Imports batch after batch, again after each interruption, until it is over.
  private static func importAll(through daemon: Daemon, _ progress: Progress) {
    var batch = 0
    while !progress.isOver, batch < batchLimit {
      do {
        let client = try daemon.client()
        while !progress.isOver, batch < batchLimit {
          let own = (0..<10).map { "\(daemon.setup.name)\(batch)-\($0)" }
          // Sections and maintainers that both make, dependencies on packages that both make, and
          // one package that both write with other values.
          var rows = own.enumerated().map { index, name -> [String: JSONValue] in
            [
              "name": .string(name), "section": ["name": .string("s\(batch % 7)")],
              "maintainer": ["name": .string("m\(index % 3)")],
              "dependencies": [["name": .string("shared\(batch % 5)")]],
            ]
          }
          rows.append([
            "name": .string("both\(batch % 4)"), "version": .string(own[0]),
            "section": ["name": .string("s\(batch % 3)-\(daemon.setup.name)")],
          ])
          _ = try client.call(
            ImportRecords.self,
            ImportRecords.Parameters(
              entity: "Package", rows: rows, lines: Array(1...rows.count), key: ["name"],
              author: daemon.setup.name))
          progress.add(own)
          batch += 1
        }
      } catch {
        // Killed, or busy with the other's writes: the same batch is sent again.
        continue
      }
    }
  }
}
