// `metrics`: where figures are served over HTTP.

/// Where metrics and health are served; nowhere by default.
public struct MetricsSection: Sendable, Hashable {
  /// An IP address with a port.
  public struct Address: Sendable, Hashable {
    public var host: String
    public var port: Int

    public init(host: String, port: Int) {
      self.host = host
      self.port = port
    }

    /// As it is written in the configuration.
    public var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// - Returns: nil for anything but `127.0.0.1:9464` and `[::1]:9464`, with other numbers.
    init?(_ text: String) {
      guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
        (1...65535).contains(port)
      else { return nil }
      let host = text[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") {
        let inner = host.dropFirst().dropLast()
        guard inner.contains(":"), inner.allSatisfy({ $0.isHexDigit || $0 == ":" }) else {
          return nil
        }
        self.init(host: String(inner), port: port)
      } else {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts.allSatisfy({ UInt8($0) != nil }) else { return nil }
        self.init(host: String(host), port: port)
      }
    }
  }

  /// A socket file.
  public var socket: String?
  public var address: Address?

  public init(socket: String? = nil, address: Address? = nil) {
    self.socket = socket
    self.address = address
  }

  /// Whether there is anything to serve.
  public var isOn: Bool { socket != nil || address != nil }

  static func read(_ reader: SectionReader) -> MetricsSection {
    let path = reader.absolutePath(reader.text("socket"), key: "socket")
    if let path, path.utf8.count > 107 {
      reader.report(
        "socket", "the path has \(path.utf8.count) bytes", "a socket's path can have 107 at most")
    }
    var address: Address?
    if let text = reader.text("address") {
      address = Address(text)
      if address == nil {
        reader.report(
          "address", "\"\(text)\" is not an IP address with a port",
          "write it like 127.0.0.1:9464")
      }
    }
    reader.finish()
    return MetricsSection(socket: path, address: address)
  }
}
