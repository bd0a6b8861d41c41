// The figures as a table for people and as JSON for machines.

import Foundation

/// Prints medians per unit, and ratios to raw SQLite.
struct Report {
  let results: [CaseResult]

  func printTable() {
    Self.printHeading()
    printLines()
  }

  static func printHeading() {
    print("| case | raw ns | GRDB × | Cairn × | must | aim |")
    print("|---|---:|---:|---:|---:|---:|")
  }

  func printLines() {
    for result in results {
      let raw = result.median(result.base).map {
        String(format: "%.0f", $0 / Double(max(result.units, 1)) * 1e9)
      }
      let isRatio = raw != nil
      let text = { (value: Double?) in
        isRatio ? factor(value) : value.map { String(format: "%.1f ", $0) + result.unit } ?? "–"
      }
      print(
        "| \(result.name) | \(raw ?? "–") | \(factor(result.ratio("GRDB"))) "
          + "| \(text(result.figure)) | \(text(result.must)) | \(text(result.aim)) |")
    }
    // A reader of a file sees each case when it has ended.
    fflush(nil)
  }

  private func factor(_ value: Double?) -> String {
    value.map { String(format: "%.2f", $0) } ?? "–"
  }

  func writeJSON(to file: URL) throws {
    let cases = results.map { result -> [String: Any] in
      var entry: [String: Any] = ["name": result.name, "units": result.units]
      entry["seconds"] = result.seconds
      entry["ratio"] = ["GRDB", "Cairn"].reduce(into: [String: Double]()) {
        $0[$1] = result.ratio($1)
      }
      if let must = result.must { entry["must"] = must }
      if result.base != "raw" { entry["base"] = result.base }
      return entry
    }
    let data = try JSONSerialization.data(
      withJSONObject: ["cases": cases], options: [.prettyPrinted, .sortedKeys])
    try data.write(to: file)
  }
}
