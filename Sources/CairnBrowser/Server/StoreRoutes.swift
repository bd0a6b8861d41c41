// Which address shows which page.

import Foundation
import Hummingbird

/// A store and the frame of its pages.
struct StorePages: Sendable {
  let browsed: BrowsedStore
  let rendering: PageRendering

  /// - Parameter before: Pages that the store is part of.
  /// - Throws: `PageError` for a store that cannot be read.
  init(
    _ browsed: BrowsedStore, templates: PageTemplates, before: [PageFrame.Item] = []
  ) throws {
    self.browsed = browsed
    let inspection = try browsed.inspection(checks: false)
    rendering = PageRendering(
      templates: templates,
      frame: PageFrame(
        browsed, hasHistory: inspection?.history != nil, canBeChecked: inspection != nil,
        before: before))
  }

  /// - Throws: `PageError` for a store that keeps no history.
  fileprivate func requireHistory() throws {
    guard rendering.frame.hasHistory else {
      throw PageError.missing("The store keeps no history.")
    }
  }
}

/// The addresses of a store's pages.
struct StoreRoutes: Sendable {
  /// The store that an address is about.
  let pages: @Sendable (BasicRequestContext) async throws -> StorePages

  func add(to router: some RouterMethods<BasicRequestContext>) {
    router.get("/") { _, context in
      let pages = try await pages(context)
      return pages.rendering.page(
        "overview", heading: pages.browsed.name, try await OverviewPage(pages.browsed))
    }
    router.get("/entities/:entity") { request, context in
      let pages = try await pages(context)
      let name = try context.parameters.require("entity")
      let parameters = FormQuery(request.uri.query)
      var query = RowsPage.Query()
      query.condition = parameters["where"] ?? ""
      query.sort = parameters["sort"].flatMap { $0.isEmpty ? nil : $0 }
      // Beyond this the offset would not fit.
      query.page = min(max(1, parameters["page"].flatMap(Int.init) ?? 1), 1_000_000_000)
      let page = try await RowsPage(pages.browsed, entity: name, query: query)
      return pages.rendering.page(
        "rows", heading: name, page, status: page.problem == nil ? .ok : .badRequest)
    }
    router.get("/records/:entity/:key") { _, context in
      let pages = try await pages(context)
      let page = try await RecordPage(
        pages.browsed, entity: try context.parameters.require("entity"),
        key: try context.parameters.require("key"))
      return pages.rendering.page("record", heading: page.title, page)
    }
    router.get("/records/:entity/:key/:attribute") { _, context in
      Self.bytes(
        try await AttributeBytes(
          try await pages(context).browsed, entity: try context.parameters.require("entity"),
          key: try context.parameters.require("key"),
          attribute: try context.parameters.require("attribute")))
    }
    router.get("/changes/:entity/:key") { _, context in
      let pages = try await pages(context)
      try pages.requireHistory()
      let page = try await ChangesPage(
        pages.browsed, entity: try context.parameters.require("entity"),
        key: try context.parameters.require("key"))
      return pages.rendering.page("changes", heading: "History of \(page.title)", page)
    }
    router.get("/history") { request, context in
      let pages = try await pages(context)
      try pages.requireHistory()
      let before = FormQuery(request.uri.query)["before"].flatMap(Int64.init)
      return pages.rendering.page(
        "history", heading: "History", try await HistoryPage(pages.browsed, before: before))
    }
    router.get("/check") { _, context in
      let pages = try await pages(context)
      return pages.rendering.page("check", heading: "Check", try await CheckPage(pages.browsed))
    }
    router.get("/diagram.svg") { _, context in
      PageRendering.response(
        Array(try await pages(context).browsed.diagram.svg().utf8), type: "image/svg+xml")
    }
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
    } catch let error as DaemonUnanswered {
      return rendering.problem(.serviceUnavailable, error.message, advice: error.advice)
    } catch let error as HTTPError where error.status == .notFound {
      return rendering.problem(.notFound, "There is no page at this address.")
    } catch let error as HTTPError {
      return rendering.problem(error.status, error.body ?? "The request cannot be answered.")
    } catch {
      return rendering.problem(.internalServerError, "The page cannot be shown: \(error)")
    }
  }
}
