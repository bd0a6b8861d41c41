// Lines over time, as a picture and as a table.

import CairnControl
import CairnDiagrams
import Foundation

/// A value at a moment; nil where there is none to tell.
struct PlotPoint: Sendable, Hashable {
  let moment: Date
  let value: Double?
}

/// A picture that needs no script, with the same figures as words.
///
/// A line ends where values are missing: nothing is drawn that was not seen.
struct Plot: Sendable {
  struct Line: Sendable {
    let name: String
    let points: [PlotPoint]
  }
  /// A row of the table: a stretch of time, and what each line had in it.
  struct Row: Sendable {
    let stretch: String
    let cells: [String]
  }

  /// Lines that can be told apart.
  static let lineLimit = 6
  private static let (width, height) = (720.0, 200.0)
  private static let (left, right, top, bottom) = (64.0, 12.0, 12.0, 26.0)
  private static let stretches = 12

  let caption: String
  /// The picture; empty before there are two moments.
  let svg: String
  let isEmpty: Bool
  /// What the picture shows, in words.
  let summary: String
  let columns: [String]
  let rows: [Row]
  /// Which line is drawn how, where there are several.
  let legend: [Legend]

  struct Legend: Sendable {
    let sample: String
    let label: String
  }

  /// - Parameters:
  ///   - identifier: Letters that no other plot of the page has.
  ///   - unit: What values are counted in, such as `records a second`.
  ///   - lines: At most ``lineLimit``; the rest is left out.
  init(_ caption: String, identifier: String, unit: String, lines: [Line]) {
    let lines = Array(lines.prefix(Self.lineLimit))
    self.caption = caption
    columns = lines.map(\.name)
    let moments = lines.flatMap { $0.points.map(\.moment) }
    let values = lines.flatMap { $0.points.compactMap(\.value) }
    guard let first = moments.min(), let last = moments.max(), first < last, !values.isEmpty else {
      (svg, isEmpty, rows, legend) = ("", true, [], [])
      summary = "There is nothing to draw yet."
      return
    }
    isEmpty = false
    summary = Self.summary(lines, unit)
    rows = Self.rows(lines, from: first, to: last)
    svg = Self.picture(
      "\(caption), in \(unit). \(summary)", identifier, lines, from: first, to: last,
      ceiling: Self.ceiling(values.max() ?? 0))
    legend =
      lines.count > 1
      ? lines.enumerated().map { index, line in
        Legend(
          sample: """
            <svg class="plot key" width="36" height="10" viewBox="0 0 36 10" aria-hidden="true">\
            <path class="line line\(index)" d="M1 5H35"/></svg>
            """, label: line.name)
      } : []
  }

  // MARK: Words

  private static func summary(_ lines: [Line], _ unit: String) -> String {
    lines.map { line in
      let name = lines.count > 1 ? "\(line.name): " : ""
      let newest = line.points.last?.value.map(number) ?? "unknown"
      guard let top = line.points.max(by: { ($0.value ?? -1) < ($1.value ?? -1) }),
        let value = top.value
      else { return "\(name)nothing known" }
      return "\(name)last \(newest), at most \(number(value)) at \(time(top.moment)) UTC"
    }.joined(separator: "; ") + "."
  }

  private static func rows(_ lines: [Line], from first: Date, to last: Date) -> [Row] {
    let length = last.timeIntervalSince(first) / Double(stretches)
    return (0..<stretches).compactMap { index in
      let start = first.addingTimeInterval(Double(index) * length)
      let end = index == stretches - 1 ? last : first.addingTimeInterval(Double(index + 1) * length)
      let inside = lines.map { line in
        line.points.filter {
          $0.moment >= start && ($0.moment < end || (index == stretches - 1 && $0.moment == end))
        }
      }
      guard inside.contains(where: { !$0.isEmpty }) else { return nil }
      return Row(
        stretch: "\(time(start)) to \(time(end))",
        cells: inside.map { $0.compactMap(\.value).max().map(number) ?? "unknown" })
    }
  }

  /// Hours, minutes and seconds, in UTC.
  static func time(_ date: Date) -> String {
    guard let text = WireDate.text(date) else { return "?" }
    return String(text.drop { $0 != "T" }.dropFirst().prefix(8))
  }

  static func number(_ value: Double) -> String {
    if let whole = Int(exactly: value) { return "\(whole)" }
    return String(format: value < 10 ? "%.2f" : "%.0f", value)
  }

  // MARK: The picture

  /// The least of 1, 2 and 5 times a power of ten that is not less.
  private static func ceiling(_ value: Double) -> Double {
    guard value > 1 else { return 1 }
    let power = pow(10, log10(value).rounded(.down))
    return [1, 2, 5, 10].map { $0 * power }.first { $0 >= value } ?? value
  }

  private static func picture(
    _ title: String, _ identifier: String, _ lines: [Line], from first: Date, to last: Date,
    ceiling: Double
  ) -> String {
    let span = last.timeIntervalSince(first)
    func x(_ moment: Date) -> Double {
      left + (width - left - right) * moment.timeIntervalSince(first) / span
    }
    func y(_ value: Double) -> Double {
      height - bottom - (height - top - bottom) * value / ceiling
    }
    func text(_ value: Double) -> String { String(format: "%.1f", value) }
    var svg = """
      <svg class="plot" width="\(Int(width))" height="\(Int(height))" \
      viewBox="0 0 \(Int(width)) \(Int(height))" role="img" aria-labelledby="\(identifier)-title">
      <title id="\(identifier)-title">\(Markup.escaped(title))</title>

      """
    for part in [0, 0.5, 1] {
      let value = ceiling * part
      svg += """
        <path class="grid" d="M\(text(left)) \(text(y(value)))H\(text(width - right))"/>\
        <text class="value" x="\(text(left - 8))" y="\(text(y(value) + 4))">\(number(value))</text>

        """
    }
    for (part, anchor) in [(0, "start"), (0.5, "middle"), (1, "end")] {
      let moment = first.addingTimeInterval(span * part)
      svg += """
        <text class="\(anchor)" x="\(text(x(moment)))" y="\(text(height - 6))">\(time(moment))</text>

        """
    }
    for (index, line) in lines.enumerated() {
      var path = ""
      var isDrawing = false
      for (place, point) in line.points.enumerated() {
        guard let value = point.value else {
          isDrawing = false
          continue
        }
        let at = "\(text(x(point.moment))) \(text(y(value)))"
        path += isDrawing ? "L\(at)" : "M\(at)"
        // A value between two gaps would have no length.
        let isAlone =
          !isDrawing && (place + 1 == line.points.count || line.points[place + 1].value == nil)
        if isAlone { path += "h1" }
        isDrawing = true
      }
      svg += "<path class=\"line line\(index)\" d=\"\(path)\"/>\n"
    }
    return svg + "</svg>\n"
  }
}
