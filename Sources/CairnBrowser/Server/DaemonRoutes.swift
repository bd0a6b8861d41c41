// Which address shows which page of the daemon.

import CairnRecords
import Foundation
import Hummingbird

/// The addresses of the daemon's pages, and under `/stores` those of its stores.
struct DaemonRoutes: Sendable {
  let source: DaemonSource
  let templates: PageTemplates
  /// Seconds; 0 for never.
  let refresh: Int

  /// How long a store may take to be opened: it may lie on a mount that hangs.
  private static let patience: Duration = .seconds(10)

  var rendering: PageRendering {
    PageRendering(
      templates: templates,
      frame: PageFrame(
        subject: "cairnd", home: "/",
        items: [
          .init(label: "Conflicts", href: "/conflicts"),
          .init(label: "Quarantine", href: "/quarantine"),
        ], icon: "/icon.svg", hasHistory: false))
  }

  func add(to router: Router<BasicRequestContext>, watch: DaemonWatch) {
    let rendering = rendering
    router.get("/icon.svg") { _, _ in
      PageRendering.response(Array(Self.icon.utf8), type: "image/svg+xml")
    }
    router.get("/") { request, _ in
      let refreshing = RefreshChoice(FormQuery(request.uri.query), path: "/", seconds: refresh)
      return rendering.page(
        "daemon", heading: "Daemon",
        DaemonOverview(await watch.current(), refreshing: refreshing),
        refresh: refreshing.seconds)
    }
    router.get("/links/:link") { request, context in
      let name = try context.parameters.require("link")
      let refreshing = RefreshChoice(
        FormQuery(request.uri.query), path: LinkRow.address(of: name), seconds: refresh)
      return rendering.page(
        "link", heading: name,
        try LinkPage(await watch.current(), link: name, refreshing: refreshing),
        refresh: refreshing.seconds)
    }
    router.get("/conflicts") { request, _ in
      let after = FormQuery(request.uri.query)["after"]
      let reply = try await source.conflicts(
        after: after, limit: ListPage<ConflictListEntry>.length)
      return rendering.page(
        "conflicts", heading: "Conflicts", ListPage<ConflictListEntry>(reply, after: after))
    }
    router.get("/conflicts/:id") { _, context in
      let conflict = try await source.conflict(try context.parameters.require("id"))
      return rendering.page("conflict", heading: "Conflict", ConflictListPage(conflict))
    }
    router.get("/quarantine") { request, _ in
      let after = FormQuery(request.uri.query)["after"]
      let reply = try await source.quarantine(
        after: after, limit: ListPage<QuarantineListEntry>.length)
      return rendering.page(
        "quarantine", heading: "Quarantine", ListPage<QuarantineListEntry>(reply, after: after))
    }
    StoreRoutes { context in
      try await store(try context.parameters.require("store"), await watch.current())
    }.add(to: router.group("/stores/:store"))
  }

  /// Opens a store of the daemon for one page.
  private func store(_ name: String, _ reading: DaemonReading) async throws -> StorePages {
    // Which stores there are is only known from an answer: the file of an old one may be another's now.
    if let silence = reading.silence { throw silence.reason }
    guard let status = reading.answer?.status,
      let location = status.local?.name == name
        ? status.local?.location : status.replicas.first(where: { $0.name == name })?.location
    else { throw PageError.missing("The daemon has no store “\(name)”.") }
    let templates = templates
    return try await BlockingRead.run(
      within: Self.patience,
      otherwise: PageError.unreadable("\(location) does not answer; its disk may be away")
    ) {
      do {
        let store = try ReadOnlyStore(path: location, model: nil)
        return try StorePages(
          BrowsedStore(store, base: PageAddress.store(name)), templates: templates,
          before: [PageFrame.Item(label: "All stores", href: "/")])
      } catch let error as ReadOnlyStoreError {
        throw PageError.unreadable("\(error.message); \(error.hint)")
      }
    }
  }

  private static let icon = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#57606a" \
    d="M3 12h10v2H3zM4.5 8.5h7V11h-7zM6 5h4v2.5H6zM7 2h2v2H7z"/></svg>
    """
}
