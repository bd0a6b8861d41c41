// Pages as HTML.

import CairnDiagrams
import Foundation
import Hummingbird
import Mustache

/// The templates of all pages, compiled.
struct PageTemplates: Sendable {
  fileprivate let library: MustacheLibrary

  /// - Throws: a parser's error for a template that is none, which the tests would have found.
  init() throws {
    let sources: [(String, [UInt8])] = [
      ("layout", PackageResources.layout_mustache),
      ("overview", PackageResources.overview_mustache),
      ("rows", PackageResources.rows_mustache), ("record", PackageResources.record_mustache),
      ("value", PackageResources.value_mustache), ("history", PackageResources.history_mustache),
      ("changes", PackageResources.changes_mustache), ("check", PackageResources.check_mustache),
      ("problem", PackageResources.problem_mustache), ("daemon", PackageResources.daemon_mustache),
      ("link", PackageResources.link_mustache), ("plot", PackageResources.plot_mustache),
      ("conflicts", PackageResources.conflicts_mustache),
      ("conflict", PackageResources.conflict_mustache),
      ("quarantine", PackageResources.quarantine_mustache),
      ("unanswered", PackageResources.unanswered_mustache),
      ("phrase", PackageResources.phrase_mustache),
    ]
    var templates: [String: MustacheTemplate] = [:]
    for (name, bytes) in sources {
      templates[name] = try MustacheTemplate(string: String(decoding: bytes, as: UTF8.self))
    }
    library = MustacheLibrary(templates: templates)
  }
}

/// What every page shows at its top.
struct PageFrame: Sendable {
  struct Item: Sendable {
    let label: String
    let href: String
  }

  /// The store, or the daemon.
  let subject: String
  /// The address of the first page.
  let home: String
  /// Other pages, each with its address.
  let items: [Item]
  /// The address of the picture that browsers show beside the title.
  let icon: String
  let hasHistory: Bool
}

extension PageFrame {
  /// The frame of a store's pages.
  ///
  /// - Parameter before: Pages that the store is part of.
  init(_ browsed: BrowsedStore, hasHistory: Bool, canBeChecked: Bool, before: [Item] = []) {
    func item(_ label: String, _ path: String) -> Item {
      Item(label: label, href: browsed.addresses.path(path))
    }
    self.init(
      subject: browsed.name, home: browsed.addresses.path("/"),
      items: before + (hasHistory ? [item("History", "/history")] : [])
        + (canBeChecked ? [item("Check", "/check")] : []),
      icon: browsed.addresses.path("/diagram.svg"), hasHistory: hasHistory)
  }
}

/// Fills the templates.
struct PageRendering: Sendable {
  let templates: PageTemplates
  let frame: PageFrame

  /// What a template is given.
  private struct Content {
    let heading: String
    let frame: PageFrame
    /// Seconds after which a browser asks again; nil for never.
    let refresh: Int?
    let page: Any
  }

  private struct Problem {
    let message: String
    let advice: Phrase?
  }

  /// A page by its template.
  func page(
    _ template: String, heading: String, _ page: Any, refresh: Int? = nil,
    status: HTTPResponse.Status = .ok
  ) -> Response {
    let content = Content(heading: heading, frame: frame, refresh: refresh, page: page)
    let html = templates.library.render(content, withTemplate: template) ?? ""
    return Self.response(Array(html.utf8), type: "text/html; charset=utf-8", status: status)
  }

  /// A page that says what went wrong.
  func problem(
    _ status: HTTPResponse.Status, _ message: String, advice: String? = nil
  ) -> Response {
    page(
      "problem", heading: status.reasonPhrase,
      Problem(message: message, advice: advice.map(Phrase.init)),
      status: status)
  }

  /// The colours and sizes of all pages, those of diagrams among them.
  static let styleSheet =
    PackageResources.style_css + Array(EntityDiagram.styleSheet.utf8)

  static func response(
    _ bytes: some Collection<UInt8>, type: String, status: HTTPResponse.Status = .ok
  ) -> Response {
    Response(
      status: status, headers: [.contentType: type],
      body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}
