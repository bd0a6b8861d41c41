import Foundation

/// The seed of a randomised test: what `CAIRN_TEST_SEED` says, or any.
package enum TestSeed {
  package static func get(_ test: String) -> UInt64 {
    let given = ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0 ... .max)
    print("\(test): seed \(seed) (CAIRN_TEST_SEED=\(seed) repeats it)")
    return seed
  }
}
