// Pages as HTML.

import CairnDiagrams
import Foundation
import Hummingbird
import Mustache

/// Fills the templates.
struct PageRendering: Sendable {
  private let library: MustacheLibrary
  /// What every page shows at its top.
  let frame: Frame

  struct Frame: Sendable {
    let store: String
    let hasHistory: Bool
    let canBeChecked: Bool
  }

  /// What a template is given.
  private struct Content {
    let heading: String
    let frame: Frame
    let page: Any
  }

  private struct Problem {
    let message: String
  }

  /// - Throws: a parser's error for a template that is none, which the tests would have found.
  init(store: String, hasHistory: Bool, canBeChecked: Bool) throws {
    frame = Frame(store: store, hasHistory: hasHistory, canBeChecked: canBeChecked)
    let sources: [(String, [UInt8])] = [
      ("layout", PackageResources.layout_mustache),
      ("overview", PackageResources.overview_mustache),
      ("rows", PackageResources.rows_mustache), ("record", PackageResources.record_mustache),
      ("value", PackageResources.value_mustache), ("history", PackageResources.history_mustache),
      ("changes", PackageResources.changes_mustache), ("check", PackageResources.check_mustache),
      ("problem", PackageResources.problem_mustache),
    ]
    var templates: [String: MustacheTemplate] = [:]
    for (name, bytes) in sources {
      templates[name] = try MustacheTemplate(string: String(decoding: bytes, as: UTF8.self))
    }
    library = MustacheLibrary(templates: templates)
  }

  /// A page by its template.
  func page(
    _ template: String, heading: String, _ page: Any, status: HTTPResponse.Status = .ok
  ) -> Response {
    let html =
      library.render(Content(heading: heading, frame: frame, page: page), withTemplate: template)
      ?? ""
    return Self.response(Array(html.utf8), type: "text/html; charset=utf-8", status: status)
  }

  /// A page that says what went wrong.
  func problem(_ status: HTTPResponse.Status, _ message: String) -> Response {
    page("problem", heading: status.reasonPhrase, Problem(message: message), status: status)
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
