// Who may see the pages.

import Foundation
import Hummingbird

/// Lets only those in who know the key of this run, and keeps pages of other origins out.
///
/// Every account of a machine reaches its loopback interface, and so does every page that a browser shows:
/// by a name that leads to 127.0.0.1 (DNS rebinding). So the host must be the address that is listened on,
/// and a key must come along: in the address once, in a cookie from then on. A Unix socket needs none: its
/// mode says who may connect. The host is checked there too, since `ssh -L` makes a port of it elsewhere.
struct AccessGuard: RouterMiddleware {
  typealias Context = BasicRequestContext

  /// The key, nil on a Unix socket.
  let key: String?
  let rendering: PageRendering

  /// A key that cannot be guessed: 128 bits.
  static func newKey() -> String {
    var random = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(random.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response = try await answer(request, context, next)
    response.headers.append(contentsOf: Self.headers)
    return response
  }

  private func answer(
    _ request: Request, _ context: Context,
    _ next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    guard request.method == .get || request.method == .head else {
      return rendering.problem(
        .methodNotAllowed, "These pages only show; there is nothing to send to them.")
    }
    guard isOwnHost(request) else {
      return rendering.problem(
        .misdirectedRequest, "These pages are served under the address that cairnctl printed only.")
    }
    guard let key else { return try await next(request, context) }
    let name = Self.cookieName(of: request)
    if let given = FormQuery(request.uri.query)["key"], Self.isEqual(given, key) {
      // The key leaves the address bar and the history of the browser.
      var response = Response(status: .seeOther)
      let rest = (request.uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix("key=") }
      response.headers[.location] =
        "/" + request.uri.path.drop { $0 == "/" }
        + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
      response.headers[.setCookie] = "\(name)=\(key); Path=/; HttpOnly; SameSite=Strict"
      return response
    }
    guard let cookie = request.cookies[name]?.value, Self.isEqual(cookie, key) else {
      return rendering.problem(
        .forbidden, "Open the whole address that cairnctl printed, with the key at its end.")
    }
    return try await next(request, context)
  }

  /// Whether the host is a loopback address by number or the name `localhost`.
  private func isOwnHost(_ request: Request) -> Bool {
    guard let authority = request.head.authority else { return false }
    let host =
      authority.hasPrefix("[")
      ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
    return ["127.0.0.1", "localhost", "[::1]"].contains(String(host))
  }

  /// Cookies are shared between the ports of a host; each run has one of its own.
  private static func cookieName(of request: Request) -> String {
    let port = request.head.authority?.split(separator: ":").last.flatMap { UInt16($0) } ?? 80
    return "cairn-\(port)"
  }

  /// Compares in a time that does not depend on where texts differ.
  private static func isEqual(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Nothing but the page's own style sheet and pictures is loaded, nothing is run, nothing is kept.
  private static let headers: HTTPFields = [
    .contentSecurityPolicy: """
    default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'
    """,
    .xContentTypeOptions: "nosniff",
    .cacheControl: "no-store",
  ]
}
