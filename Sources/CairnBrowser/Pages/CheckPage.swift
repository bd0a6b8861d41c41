// Whether the file is whole.

import Cairn
import Foundation

struct CheckPage: Sendable {
  struct Finding: Sendable {
    let severity: String
    let rule: String
    let place: String
    let message: String
  }

  /// Findings that are shown.
  static let limit = 500

  let isDamaged: Bool
  let isGood: Bool
  let summary: String
  let findings: [Finding]
  let hasFindings: Bool

  /// Reads the whole file.
  init(_ browsed: BrowsedStore) async throws {
    let inspection = try await BlockingRead.run { try browsed.inspection(checks: true) }
    guard let inspection else {
      throw PageError.missing(
        "Only SQLite stores are checked; this one was read whole to be opened.")
    }
    isDamaged = !inspection.damage.isEmpty
    isGood = inspection.findings.isEmpty
    let count = inspection.findings.count
    summary =
      isDamaged
      ? "The file is damaged. Restore a backup, or copy what can be read into a new store."
      : isGood
        ? "Everything in the file was read, and all of it is right."
        : "Nothing is damaged; there are remarks."
    findings = inspection.findings.prefix(Self.limit).map { finding in
      var place = [finding.entity ?? finding.table, finding.key.map { "p\($0)" }, finding.column]
        .compactMap { $0 }.joined(separator: " ")
      if place.isEmpty { place = "the file" }
      return Finding(
        severity: finding.severity.rawValue, rule: finding.rule.rawValue, place: place,
        message: finding.message)
    }
    hasFindings = count > 0
  }
}
