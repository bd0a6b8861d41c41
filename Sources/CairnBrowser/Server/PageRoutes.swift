// Which address shows which page.

import Foundation
import Hummingbird

/// The addresses of a store's pages.
struct PageRoutes: Sendable {
  let browsed: BrowsedStore
  let rendering: PageRendering

  func router(key: String?) -> Router<BasicRequestContext> {
    let router = Router(context: BasicRequestContext.self)
    router.add(middleware: AccessGuard(key: key, rendering: rendering))
    router.add(middleware: ProblemPages(rendering: rendering))
    router.get("/") { _, _ in
      rendering.page("overview", heading: browsed.name, try await OverviewPage(browsed))
    }
    router.get("/entities/:entity") { request, context in
      let name = try context.parameters.require("entity")
      let parameters = FormQuery(request.uri.query)
      var query = RowsPage.Query()
      query.condition = parameters["where"] ?? ""
      query.sort = parameters["sort"].flatMap { $0.isEmpty ? nil : $0 }
      // Beyond this the offset would not fit.
      query.page = min(max(1, parameters["page"].flatMap(Int.init) ?? 1), 1_000_000_000)
      let page = try await RowsPage(browsed, entity: name, query: query)
      return rendering.page(
        "rows", heading: name, page, status: page.problem == nil ? .ok : .badRequest)
    }
    router.get("/records/:entity/:key") { _, context in
      let page = try await RecordPage(
        browsed, entity: try context.parameters.require("entity"),
        key: try context.parameters.require("key"))
      return rendering.page("record", heading: page.title, page)
    }
    router.get("/records/:entity/:key/:attribute") { _, context in
      Self.bytes(
        try await AttributeBytes(
          browsed, entity: try context.parameters.require("entity"),
          key: try context.parameters.require("key"),
          attribute: try context.parameters.require("attribute")))
    }
    router.get("/changes/:entity/:key") { _, context in
      guard rendering.frame.hasHistory else {
        throw PageError.missing("The store keeps no history.")
      }
      let page = try await ChangesPage(
        browsed, entity: try context.parameters.require("entity"),
        key: try context.parameters.require("key"))
      return rendering.page("changes", heading: "History of \(page.title)", page)
    }
    router.get("/history") { request, _ in
      guard rendering.frame.hasHistory else {
        throw PageError.missing("The store keeps no history.")
      }
      let before = FormQuery(request.uri.query)["before"].flatMap(Int64.init)
      return rendering.page(
        "history", heading: "History", try await HistoryPage(browsed, before: before))
    }
    router.get("/check") { _, _ in
      rendering.page("check", heading: "Check", try await CheckPage(browsed))
    }
    router.get("/style.css") { _, _ in
      PageRendering.response(
        PageRendering.styleSheet, type: "text/css; charset=utf-8")
    }
    router.get("/diagram.svg") { _, _ in
      PageRendering.response(Array(browsed.diagram.svg().utf8), type: "image/svg+xml")
    }
    return router
  }

  /// Pictures are shown; other bytes are saved, so that a browser runs nothing that a store holds.
  private static func bytes(_ bytes: AttributeBytes) -> Response {
    var response = PageRendering.response(
      bytes.data, type: bytes.picture?.rawValue ?? "application/octet-stream")
    if bytes.picture == nil { response.headers[.contentDisposition] = "attachment" }
    return response
  }
}

/// Errors as pages.
struct ProblemPages: RouterMiddleware {
  typealias Context = BasicRequestContext
  let rendering: PageRendering

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch PageError.missing(let message) {
      return rendering.problem(.notFound, message)
    } catch PageError.unreadable(let message) {
      return rendering.problem(.serviceUnavailable, "The store cannot be read: \(message)")
    } catch let error as HTTPError where error.status == .notFound {
      return rendering.problem(.notFound, "There is no page at this address.")
    } catch let error as HTTPError {
      return rendering.problem(error.status, error.body ?? "The request cannot be answered.")
    } catch {
      return rendering.problem(.internalServerError, "The page cannot be shown: \(error)")
    }
  }
}
