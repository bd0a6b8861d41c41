// Where the boxes of a diagram stand.

import CairnControl

/// Places for the boxes of a diagram: neighbours in columns beside each other.
///
/// Each connected part of the model is laid out by itself: the entity with the most lines stands first,
/// what it is connected to in the next columns, in an order that lets lines cross little. A column that
/// would be much higher than the others is broken in two. The same diagram has the same layout each time.
public struct DiagramLayout: Sendable {
  /// A place, in pixels from the upper left corner.
  public struct Frame: Sendable, Hashable {
    public var x: Int
    public var y: Int
    public let width: Int
    public let height: Int
  }

  public let width: Int
  public let height: Int
  /// By the entity's name.
  public let frames: [String: Frame]

  /// Room between columns, for the curves of the lines, and between the boxes of a column.
  private static let columnGap = 90
  private static let rowGap = 28
  private static let margin = 24
  /// Parts of a model that are narrower than this stand beside each other.
  private static let shelfWidth = 1500
  /// A column higher than this is broken in two, unless one box alone is.
  private static let columnHeight = 1100
  /// Rounds of ordering; more change nothing in practice.
  private static let sweeps = 8

  public init(_ diagram: EntityDiagram) {
    let sizes = Dictionary(
      diagram.boxes.map { ($0.entity, DiagramMeasure.size(of: $0)) },
      uniquingKeysWith: { first, _ in first })
    let neighbours = Self.neighbours(diagram)
    var frames: [String: Frame] = [:]
    var shelf = (x: Self.margin, y: Self.margin, height: 0)
    var right = 0
    for part in Self.parts(diagram.boxes.map(\.entity), neighbours) {
      let columns = Self.ordered(Self.columns(part, neighbours, sizes), neighbours)
      let placed = Self.placed(columns, sizes)
      if shelf.x > Self.margin, shelf.x + placed.width > Self.shelfWidth {
        shelf = (Self.margin, shelf.y + shelf.height + 2 * Self.rowGap, 0)
      }
      for (name, frame) in placed.frames {
        frames[name] = Frame(
          x: shelf.x + frame.x, y: shelf.y + frame.y, width: frame.width, height: frame.height)
      }
      right = max(right, shelf.x + placed.width)
      shelf = (
        shelf.x + placed.width + Self.columnGap / 2, shelf.y, max(shelf.height, placed.height)
      )
    }
    self.frames = frames
    // A line from a box to itself or within a column bulges to the right of it.
    width = right + Self.margin + Self.columnGap / 2
    height = shelf.y + shelf.height + Self.margin
  }

  private static func neighbours(_ diagram: EntityDiagram) -> [String: [String]] {
    var result: [String: [String]] = [:]
    for line in diagram.lines where line.from != line.to {
      result[line.from, default: []].append(line.to)
      result[line.to, default: []].append(line.from)
    }
    return result
  }

  /// The connected parts, the largest first.
  private static func parts(_ names: [String], _ neighbours: [String: [String]]) -> [[String]] {
    var seen: Set<String> = []
    var parts: [[String]] = []
    for name in names where seen.insert(name).inserted {
      var part = [name]
      var next = 0
      while next < part.count {
        for other in neighbours[part[next]] ?? [] where seen.insert(other).inserted {
          part.append(other)
        }
        next += 1
      }
      parts.append(part)
    }
    return parts.enumerated()
      .sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
  }

  /// The entities of a part by their distance from the one with the most lines.
  private static func columns(
    _ part: [String], _ neighbours: [String: [String]], _ sizes: [String: (width: Int, height: Int)]
  ) -> [[String]] {
    let first = part.max {
      let (left, right) = (neighbours[$0]?.count ?? 0, neighbours[$1]?.count ?? 0)
      return left == right ? $0 > $1 : left < right
    }
    guard let first else { return [] }
    var seen: Set<String> = [first]
    var columns: [[String]] = []
    var current = [first]
    while !current.isEmpty {
      columns += broken(current, sizes)
      var next: [String] = []
      for name in current {
        for other in neighbours[name] ?? [] where seen.insert(other).inserted { next.append(other) }
      }
      current = next
    }
    return columns
  }

  /// A column in pieces that are about equally high, each within the height that is allowed.
  private static func broken(
    _ column: [String], _ sizes: [String: (width: Int, height: Int)]
  ) -> [[String]] {
    let heights = column.map { (sizes[$0]?.height ?? 0) + rowGap }
    let pieces = max(1, (heights.reduce(0, +) + columnHeight - 1) / columnHeight)
    let target = heights.reduce(0, +) / pieces
    var result: [[String]] = [[]]
    var height = 0
    for (name, size) in zip(column, heights) {
      if height > 0, height + size / 2 > target, result.count < pieces {
        result.append([])
        height = 0
      }
      result[result.count - 1].append(name)
      height += size
    }
    return result
  }

  /// The columns with each box near the middle of what it is connected to in the column before, then in
  /// the one behind, and so on (the barycentre method of layered drawings).
  private static func ordered(
    _ columns: [[String]], _ neighbours: [String: [String]]
  ) -> [[String]] {
    var columns = columns
    for sweep in 0..<sweeps {
      let indices = Array(columns.indices)
      for index in sweep.isMultiple(of: 2) ? indices : indices.reversed() {
        var positions: [String: Double] = [:]
        for column in columns where column != columns[index] {
          for (position, name) in column.enumerated() {
            positions[name] = (Double(position) + 0.5) / Double(column.count)
          }
        }
        let wishes = columns[index].enumerated().map { position, name in
          let near = (neighbours[name] ?? []).compactMap { positions[$0] }
          return near.isEmpty
            ? (Double(position) + 0.5) / Double(columns[index].count)
            : near.reduce(0, +) / Double(near.count)
        }
        columns[index] = zip(wishes.indices, columns[index])
          .sorted { (wishes[$0.0], $0.0) < (wishes[$1.0], $1.0) }.map(\.1)
      }
    }
    return columns
  }

  private static func placed(
    _ columns: [[String]], _ sizes: [String: (width: Int, height: Int)]
  ) -> (width: Int, height: Int, frames: [String: Frame]) {
    let heights = columns.map { column in
      column.reduce(-rowGap) { $0 + (sizes[$1]?.height ?? 0) + rowGap }
    }
    let height = heights.max() ?? 0
    var frames: [String: Frame] = [:]
    var x = 0
    for (column, columnHeight) in zip(columns, heights) {
      let width = column.compactMap { sizes[$0]?.width }.max() ?? 0
      var y = (height - columnHeight) / 2
      for name in column {
        let size = sizes[name] ?? (0, 0)
        frames[name] = Frame(x: x, y: y, width: width, height: size.height)
        y += size.height + rowGap
      }
      x += width + columnGap
    }
    return (max(0, x - columnGap), max(0, height), frames)
  }
}

/// How large text and boxes are drawn.
enum DiagramMeasure {
  /// Pixels of a monospaced character at the drawing's size of 12, with some room: fonts differ.
  static let characterWidth = 7.4
  static let rowHeight = 18
  static let headHeight = 26
  static let padding = 10

  static func size(of box: EntityDiagram.Box) -> (width: Int, height: Int) {
    let names = box.rows.map { DisplayWidth.columns($0.name) }.max() ?? 0
    let types = box.rows.map { DisplayWidth.columns(typeText($0)) }.max() ?? 0
    let characters = max(DisplayWidth.columns(box.entity) + 2, names + 2 + types)
    return (
      Int(Double(characters) * characterWidth) + 2 * padding,
      headHeight + box.rows.count * rowHeight + (box.rows.isEmpty ? 0 : padding / 2)
    )
  }

  /// What stands at the right of a row.
  static func typeText(_ row: EntityDiagram.Row) -> String {
    let text: String
    switch row.isToMany {
    case .some(true): text = "»\u{202F}\(row.type)"
    case .some(false): text = "›\u{202F}\(row.type)"
    case .none: text = row.type
    }
    return row.isOptional || row.isToMany != nil ? text : text + " *"
  }

  /// The middle of a row, from the top of its box.
  static func middle(ofRow index: Int) -> Int { headHeight + index * rowHeight + rowHeight / 2 }
}
