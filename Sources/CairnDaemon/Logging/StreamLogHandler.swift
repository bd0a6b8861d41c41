// Writes log lines to standard error, one line an entry whatever is in it.
import CairnControl
import CairnPlatform
import Foundation
import Logging

/// A log handler that writes `logfmt` or JSON lines to standard error.
public struct StreamLogHandler: LogHandler {
  /// How a line looks.
  public enum Format: Sendable {
    /// `time=… level=info msg="…" key=value`.
    case logfmt
    /// One JSON object a line.
    case json
  }

  public var logLevel: Logger.Level = .info
  public var metadata: Logger.Metadata = [:]
  public var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let format: Format
  private let write: @Sendable ([UInt8]) -> Void

  /// Writes to standard error.
  public init(label: String, format: Format) {
    self.init(label: label, format: format) { bytes in StandardStream.error.write(bytes) }
  }

  init(label: String, format: Format, write: @escaping @Sendable ([UInt8]) -> Void) {
    self.label = label
    self.format = format
    self.write = write
  }

  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  public func log(event: LogEvent) {
    var fields: [(key: String, value: String)] = [
      ("time", WireDate.text(WireDate.now.date) ?? ""), ("level", event.level.rawValue),
      ("msg", event.message.description), ("logger", label),
    ]
    if let error = event.error { fields.append(("error", String(describing: error))) }
    let taken = Set(fields.map(\.key))
    for (key, value) in LogFields.merged(
      metadata, provider: metadataProvider, event: event.metadata)
    { fields.append((taken.contains(key) ? "field_\(key)" : key, value)) }
    var line: [UInt8]
    switch format {
    case .logfmt: line = Array(Self.logfmt(fields).utf8)
    case .json:
      let members = fields.map { ($0.key, JSONValue.string($0.value)) }
      line = JSONValue.object(Dictionary(members, uniquingKeysWith: { $1 })).bytes()
    }
    line.append(0x0A)
    write(line)
  }

  static func logfmt(_ fields: [(key: String, value: String)]) -> String {
    fields.map { key, value in
      let name = String(key.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
      return "\(name)=\(quoted(value))"
    }.joined(separator: " ")
  }

  /// The value as it is when it is one plain word, in quotes with escapes otherwise.
  private static func quoted(_ value: String) -> String {
    let isPlain =
      !value.isEmpty
      && value.unicodeScalars.allSatisfy {
        $0.isASCII && $0.value > 0x20 && $0 != "\"" && $0 != "=" && $0 != "\\" && $0.value != 0x7F
      }
    if isPlain { return value }
    var result = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
          result += "\\u{" + String(scalar.value, radix: 16) + "}"
        default: result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
