// Where the pages are served.

import Foundation

/// An address that only this machine reaches.
public enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
  /// `127.0.0.1` or `::1`, and a port; 0 for any that is free.
  case loopback(host: String, port: Int)
  /// The path of a Unix socket.
  case socket(path: String)

  /// Any free port on the loopback interface.
  public static let anyPort = ListenAddress.loopback(host: "127.0.0.1", port: 0)

  /// Reads `PORT`, `127.0.0.1:PORT`, `localhost:PORT`, `[::1]:PORT`, or the absolute path of a Unix socket
  /// with or without `unix:`.
  ///
  /// - Throws: ``ListenAddressError`` that says what would do; other interfaces are refused, since the
  ///   pages show everything that is in a store.
  public init(_ text: String) throws {
    if text.hasPrefix("/") || text.hasPrefix("unix:") {
      let path = text.hasPrefix("unix:") ? String(text.dropFirst(5)) : text
      // `sun_path` has 108 bytes, the last one a zero.
      guard path.hasPrefix("/"), path.utf8.count < 108, !path.utf8.contains(0) else {
        throw ListenAddressError(
          reason: "“\(text)” is no absolute path of at most 107 bytes for a socket")
      }
      self = .socket(path: path)
      return
    }
    let parts: (host: String, port: String)
    if let colon = text.lastIndex(of: ":") {
      parts = (String(text[..<colon]), String(text[text.index(after: colon)...]))
    } else {
      parts = ("127.0.0.1", text)
    }
    guard let port = UInt16(parts.port) else {
      throw ListenAddressError(reason: "“\(parts.port)” is no port from 0 to 65535")
    }
    switch parts.host {
    case "127.0.0.1", "localhost": self = .loopback(host: "127.0.0.1", port: Int(port))
    case "[::1]": self = .loopback(host: "::1", port: Int(port))
    default:
      throw ListenAddressError(
        reason: """
          “\(parts.host)” is not of this machine alone; listen on 127.0.0.1 or [::1] and reach it from \
          elsewhere by `ssh -L`
          """)
    }
  }

  /// The address as browsers and `curl` take it.
  public var description: String {
    switch self {
    case .loopback(let host, let port):
      host.contains(":") ? "http://[\(host)]:\(port)/" : "http://\(host):\(port)/"
    case .socket(let path): "unix:\(path)"
    }
  }
}

/// Why an address cannot be listened on.
public struct ListenAddressError: Error, Sendable, Hashable, CustomStringConvertible {
  public let reason: String
  public var description: String { reason }
}
