// Prometheus' text format, version 0.0.4, and OpenMetrics 1.0.0.

/// Writes families of metrics as scrapers read them.
struct MetricsText {
  /// A form of the text.
  enum Format: Sendable, Hashable {
    case text, openMetrics

    /// - Parameter mediaRange: What a client accepts; nil for what is neither.
    init?(mediaRange: String) {
      switch mediaRange.lowercased() {
      case "application/openmetrics-text": self = .openMetrics
      case "text/plain", "text/*", "*/*": self = .text
      default: return nil
      }
    }

    var mediaType: String {
      switch self {
      case .text: "text/plain; version=0.0.4; charset=utf-8"
      case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
      }
    }
  }

  enum Kind: String {
    case gauge, counter, histogram
  }

  /// One figure with what tells it from the others of its family.
  struct Sample {
    let labels: [(name: String, value: String)]
    let value: Double
    /// What follows the name of the family: `_sum`.
    var suffix = ""

    init(_ value: Double, _ labels: [(String, String)] = [], suffix: String = "") {
      self.labels = labels
      self.value = value
      self.suffix = suffix
    }

    init(_ value: Int, _ labels: [(String, String)] = [], suffix: String = "") {
      self.init(Double(value), labels, suffix: suffix)
    }
  }

  private var lines = ""
  private let format: Format

  init(_ format: Format = .text) { self.format = format }

  var text: String { format == .openMetrics ? lines + "# EOF\n" : lines }

  /// Writes a family with all its figures; none of them, none of it.
  ///
  /// - Parameter name: Ends with its unit, and that of a counter with `_total`.
  mutating func family(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    if samples.isEmpty { return }
    // In OpenMetrics the end of a counter's name is not the family's.
    let total = "_total"
    let isBare = format == .openMetrics && kind == .counter && name.hasSuffix(total)
    let family = isBare ? String(name.dropLast(total.count)) : name
    let quotes = format == .openMetrics
    lines += "# HELP \(family) \(Self.escaped(help, quotes: quotes))\n"
    lines += "# TYPE \(family) \(kind.rawValue)\n"
    for sample in samples {
      lines += name + sample.suffix
      if !sample.labels.isEmpty {
        let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
        lines += "{\(labels.joined(separator: ","))}"
      }
      lines += " \(Self.number(sample.value))\n"
    }
  }

  /// Writes a histogram.
  ///
  /// - Parameters:
  ///   - counts: How many were at most as large as the bound at the same place, and larger than the one before.
  ///   - count: All of them.
  mutating func histogram(
    _ name: String, _ help: String, bounds: [Double], counts: [Int], count: Int, sum: Double,
    _ labels: [(String, String)]
  ) {
    var below = 0
    var samples = zip(bounds, counts).map { bound, count in
      below += count
      return Sample(below, labels + [("le", "\(bound)")], suffix: "_bucket")
    }
    samples.append(.init(count, labels + [("le", "+Inf")], suffix: "_bucket"))
    samples.append(.init(sum, labels, suffix: "_sum"))
    samples.append(.init(count, labels, suffix: "_count"))
    family(name, .histogram, help, samples)
  }

  private static func number(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
  }

  /// A label's value cannot end its line or its quotes, whatever the name of a replica is.
  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
