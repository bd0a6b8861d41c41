import CairnModel
import CairnStore
import Foundation

/// The public suite for authors of stores: what every store must do, checked one rule at a time.
///
/// ```swift
/// @Test func keepsThePromiseOfAStore() throws {
///   let suite = PersistentStoreConformance(kind: MyStoreKind()) {
///     FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
///   }
///   try suite.check()
/// }
/// ```
///
/// Each check opens a new store. What only some stores can do is checked when the store names it in its
/// ``PersistentStore/capabilities``.
public struct PersistentStoreConformance: Sendable {
  /// A rule that a store broke.
  public struct Failure: Sendable, CustomStringConvertible {
    /// The name of the check.
    public let check: String
    /// What was expected and what happened.
    public let message: String
    public var description: String { "\(check): \(message)" }
  }

  /// All failures of a run.
  public struct Failed: Error, Sendable, CustomStringConvertible {
    public let failures: [Failure]
    public var description: String {
      "The store broke \(failures.count) rule\(failures.count == 1 ? "" : "s"):\n"
        + failures.map { "  \($0)" }.joined(separator: "\n")
    }
  }

  private let kind: any StoreKind
  private let options: StoreOptions
  private let makeURL: @Sendable () -> URL?

  /// A suite for one kind of store.
  ///
  /// - Parameters:
  ///   - options: Given to each store, beside the option for history.
  ///   - makeURL: A place where no store is yet, for each check; nil for stores without files.
  public init(
    kind: any StoreKind, options: StoreOptions = StoreOptions(),
    makeURL: @escaping @Sendable () -> URL? = { nil }
  ) {
    self.kind = kind
    self.options = options
    self.makeURL = makeURL
  }

  /// The names of all checks.
  public static var checkNames: [String] { allChecks.map(\.name) }

  /// Runs all checks and throws ``Failed`` when a rule was broken.
  public func check() throws {
    let failures = run()
    if !failures.isEmpty { throw Failed(failures: failures) }
  }

  /// Runs the named checks, all without names, and returns what failed.
  public func run(only names: [String] = []) -> [Failure] {
    var failures: [Failure] = []
    for check in Self.allChecks where names.isEmpty || names.contains(check.name) {
      do {
        let probe = try StoreProbe(kind: kind, url: makeURL(), options: options)
        do {
          try check.body(probe)
        } catch {
          probe.fail("threw \(error)")
        }
        try? probe.store.close()
        failures += probe.problems.map { Failure(check: check.name, message: $0) }
      } catch {
        failures.append(Failure(check: check.name, message: "cannot be opened: \(error)"))
      }
    }
    return failures
  }

  static let allChecks: [ConformanceCheck] =
    OpeningChecks.all + RowChecks.all + ConflictChecks.all + ConstraintChecks.all
    + LinkChecks.all + FetchChecks.all + PredicateChecks.all + CapabilityChecks.all
    + RowCapabilityChecks.all + BatchChecks.all + GenerationChecks.all
}

/// One rule and how it is checked.
struct ConformanceCheck: Sendable {
  let name: String
  let body: @Sendable (StoreProbe) throws -> Void

  init(_ name: String, _ body: @escaping @Sendable (StoreProbe) throws -> Void) {
    self.name = name
    self.body = body
  }
}
