// A diagram as a picture.

extension EntityDiagram {
  /// Where a picture's colours come from.
  public enum Style: Sendable {
    /// The picture has them inside, for a light and a dark background.
    case own
    /// The page that shows the picture has them; ``EntityDiagram/styleSheet`` says which classes there are.
    case ofThePage
  }

  /// The diagram as SVG, with the name and the type of each property.
  ///
  /// - Parameter link: the address that a box leads to, by the entity's name; nil for none.
  public func svg(style: Style = .own, link: (String) -> String? = { _ in nil }) -> String {
    let layout = DiagramLayout(self)
    var svg = """
      <svg xmlns="http://www.w3.org/2000/svg" class="diagram" width="\(layout.width)" \
      height="\(layout.height)" viewBox="0 0 \(layout.width) \(layout.height)" \
      aria-labelledby="diagram-title">
      <title id="diagram-title">\(Markup.escaped("Entities of \(title)"))</title>

      """
    if style == .own { svg += "<style>\n\(Self.styleSheet)</style>\n" }
    svg += Self.arrowheads
    for line in lines {
      if let path = DiagramPath(line, in: self, layout: layout) { svg += path.svg }
    }
    for box in boxes {
      if let frame = layout.frames[box.entity] {
        svg += Self.svg(box, frame: frame, link: link(box.entity))
      }
    }
    return svg + "</svg>\n"
  }

  private static func svg(_ box: Box, frame: DiagramLayout.Frame, link: String?) -> String {
    let padding = DiagramMeasure.padding
    var svg = "<g transform=\"translate(\(frame.x) \(frame.y))\">\n"
    svg += "<rect class=\"box\" width=\"\(frame.width)\" height=\"\(frame.height)\" rx=\"5\"/>\n"
    svg += """
      <path class="head" d="M0 \(DiagramMeasure.headHeight)V5a5 5 0 0 1 5 -5H\(frame.width - 5)a5 5 0 0 1 5 \
      5V\(DiagramMeasure.headHeight)z"/>

      """
    let name = """
      <text class="\(box.isAbstract ? "name abstract" : "name")" x="\(padding)" y="18">\
      \(Markup.escaped(box.entity))</text>
      """
    svg += link.map { "<a href=\"\(Markup.escaped($0))\">\(name)</a>\n" } ?? name + "\n"
    for (index, row) in box.rows.enumerated() {
      let y = DiagramMeasure.middle(ofRow: index) + 4
      svg += """
        <text x="\(padding)" y="\(y)">\(Markup.escaped(row.name))</text>\
        <text class="type" x="\(frame.width - padding)" y="\(y)">\
        \(Markup.escaped(DiagramMeasure.typeText(row)))</text>

        """
    }
    return svg + "</g>\n"
  }

  /// One arrow for one object, two for many, a hollow triangle at a superentity.
  private static let arrowheads = """
    <defs>
    <marker id="to-one" class="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" \
    markerHeight="9" orient="auto-start-reverse"><path d="M1 1L7 4L1 7"/></marker>
    <marker id="to-many" class="arrow" viewBox="0 0 14 8" refX="14" refY="4" markerWidth="15" \
    markerHeight="9" orient="auto-start-reverse"><path d="M1 1L7 4L1 7M7 1L13 4L7 7"/></marker>
    <marker id="superentity" class="arrow super" viewBox="0 0 12 12" refX="12" refY="6" \
    markerWidth="13" markerHeight="13" orient="auto-start-reverse"><path d="M1 1L11 6L1 11z"/></marker>
    </defs>

    """

  /// The classes of the picture and their colours.
  public static let styleSheet = """
    .diagram { --ground: #fff; --ink: #1b1f24; --faint: #57606a; --edge: #8c959f; --head: #e7edf4; \
    font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
    @media (prefers-color-scheme: dark) { .diagram { --ground: #161b22; --ink: #e6edf3; \
    --faint: #9da7b1; --edge: #6e7681; --head: #263040; } }
    .diagram text { fill: var(--ink); }
    .diagram .box { fill: var(--ground); stroke: var(--edge); }
    .diagram .head { fill: var(--head); }
    .diagram .name { font-weight: bold; }
    .diagram .abstract { font-style: italic; }
    .diagram .type { fill: var(--faint); text-anchor: end; }
    .diagram .line { fill: none; stroke: var(--edge); stroke-width: 1.3; }
    .diagram .arrow path { fill: none; stroke: var(--edge); stroke-width: 1.3; }
    .diagram .super path { fill: var(--ground); }

    """
}

/// The way of a line, from row to row.
struct DiagramPath {
  let svg: String

  init?(_ line: EntityDiagram.Line, in diagram: EntityDiagram, layout: DiagramLayout) {
    guard let from = layout.frames[line.from], let to = layout.frames[line.to] else { return nil }
    var start = from.y + DiagramMeasure.headHeight / 2
    var end = to.y + DiagramMeasure.headHeight / 2
    var markers = " marker-end=\"url(#superentity)\""
    var label = "\(line.from) inherits from \(line.to)"
    if case .relationship(let name, let isToMany, let inverse, let inverseIsToMany) = line.kind {
      start = from.y + Self.port(name, of: line.from, in: diagram)
      if let inverse { end = to.y + Self.port(inverse, of: line.to, in: diagram) }
      markers = " marker-end=\"url(#\(isToMany ? "to-many" : "to-one"))\""
      label = "\(line.from).\(name) leads to \(isToMany ? "many" : "one") \(line.to)"
      if let inverse {
        markers += " marker-start=\"url(#\(inverseIsToMany ? "to-many" : "to-one"))\""
        label +=
          ", \(line.to).\(inverse) to \(inverseIsToMany ? "many" : "one") \(line.from)"
      }
    }
    let way = Self.way(from: from, start: start, to: to, end: end)
    svg = """
      <path class="line" d="\(way)"\(markers)><title>\(Markup.escaped(label))</title></path>

      """
  }

  private static func port(
    _ property: String, of entity: String, in diagram: EntityDiagram
  ) -> Int {
    let rows = diagram.boxes.first { $0.entity == entity }?.rows ?? []
    return rows.firstIndex { $0.name == property }.map(DiagramMeasure.middle)
      ?? DiagramMeasure.headHeight / 2
  }

  /// A curve between facing sides; boxes above each other are joined at their right sides.
  private static func way(
    from: DiagramLayout.Frame, start: Int, to: DiagramLayout.Frame, end: Int
  ) -> String {
    let left: Int
    let right: Int
    var bend: (Int, Int)
    if from.x + from.width < to.x {
      (left, right) = (from.x + from.width, to.x)
      let reach = min(80, (right - left) / 2)
      bend = (left + reach, right - reach)
    } else if to.x + to.width < from.x {
      (left, right) = (from.x, to.x + to.width)
      let reach = min(80, (left - right) / 2)
      bend = (left - reach, right + reach)
    } else {
      (left, right) = (from.x + from.width, to.x + to.width)
      let reach = 36 + min(30, abs(end - start) / 20)
      bend = (left + reach, right + reach)
    }
    return "M\(left) \(start)C\(bend.0) \(start) \(bend.1) \(end) \(right) \(end)"
  }
}

/// Text inside markup.
package enum Markup {
  /// A text without characters that mean something in XML or HTML.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      // XML 1.0 has no place for these, not even escaped.
      case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}":
        result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
