// Prometheus' text format, version 0.0.4.

/// Writes families of metrics as Prometheus reads them.
struct MetricsText {
  enum Kind: String {
    case gauge, counter
  }

  /// One figure with what tells it from the others of its family.
  struct Sample {
    let labels: [(name: String, value: String)]
    let value: Double

    init(_ value: Double, _ labels: [(String, String)] = []) {
      self.labels = labels
      self.value = value
    }

    init(_ value: Int, _ labels: [(String, String)] = []) { self.init(Double(value), labels) }
  }

  private(set) var text = ""

  /// Writes a family with all its figures; none of them, none of it.
  ///
  /// - Parameter name: Ends with its unit, and that of a counter with `_total`.
  mutating func family(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    if samples.isEmpty { return }
    text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    for sample in samples {
      text += name
      if !sample.labels.isEmpty {
        let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
        text += "{\(labels.joined(separator: ","))}"
      }
      text += " \(Self.number(sample.value))\n"
    }
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
