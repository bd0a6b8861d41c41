// The few sentences of HTTP that a scrape needs, as values.
import Foundation

/// One request: what is asked for, and in which form; nothing else of it matters.
struct MetricsRequest: Sendable, Hashable {
  let path: String
  let wantsBody: Bool
  var format = MetricsText.Format.text

  /// Bytes of a request at most; scrapers send a few hundred.
  static let limit = 8192

  /// Whether all lines up to the empty one have arrived.
  static func isComplete(_ bytes: [UInt8]) -> Bool {
    // As RFC 9112 asks of servers, bare line feeds are accepted.
    var lineLength = 0
    for byte in bytes {
      if byte == 0x0A {
        if lineLength == 0 { return true }
        lineLength = 0
      } else if byte != 0x0D {
        lineLength += 1
      }
    }
    return false
  }

  /// - Returns: the request, or the answer to one that cannot be served.
  static func read(_ bytes: [UInt8]) -> Result<MetricsRequest, MetricsAnswer> {
    let line = String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
      return .failure(.init(status: "400 Bad Request", body: "not a request of HTTP/1\n"))
    }
    guard words[0] == "GET" || words[0] == "HEAD" else {
      return .failure(.init(status: "405 Method Not Allowed", body: "GET and HEAD are served\n"))
    }
    return .success(
      MetricsRequest(
        path: String(words[1].prefix { $0 != "?" }), wantsBody: words[0] == "GET",
        format: format(of: bytes)))
  }

  /// The form that the client likes best of those that there are.
  private static func format(of bytes: [UInt8]) -> MetricsText.Format {
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    let accepted = lines.dropFirst().filter { $0.lowercased().hasPrefix("accept:") }
      .flatMap { $0.dropFirst("accept:".count).split(separator: ",") }
    var qualities: [MetricsText.Format: Double] = [:]
    for range in accepted {
      let parts = range.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      let quality = parts.lazy.compactMap { part in
        part.hasPrefix("q=") ? Double(part.dropFirst(2)) : nil
      }.first
      guard let format = MetricsText.Format(mediaRange: parts.first ?? "") else { continue }
      qualities[format] = max(qualities[format] ?? 0, quality ?? 1)
    }
    return (qualities[.openMetrics] ?? 0) > (qualities[.text] ?? 0) ? .openMetrics : .text
  }
}

/// One answer; the connection ends with it.
struct MetricsAnswer: Error, Sendable, Hashable {
  let status: String
  var type = "text/plain; charset=utf-8"
  let body: String

  func bytes(withBody: Bool) -> [UInt8] {
    let head = """
      HTTP/1.1 \(status)\r
      Content-Type: \(type)\r
      Content-Length: \(body.utf8.count)\r
      Cache-Control: no-store\r
      Connection: close\r
      \r

      """
    return Array(head.utf8) + (withBody ? Array(body.utf8) : [])
  }

  static let notFound = MetricsAnswer(
    status: "404 Not Found", body: "here are /metrics, /health and /ready\n")

  /// Whether the daemon can do its work: what is asked before clients are sent to it.
  static func readiness(_ status: some Sequence<String>, isServing: Bool) -> MetricsAnswer {
    let lines = status.map { $0 + "\n" }.joined()
    return isServing
      ? MetricsAnswer(status: "200 OK", body: "serving\n")
      : MetricsAnswer(status: "503 Service Unavailable", body: lines)
  }
}
