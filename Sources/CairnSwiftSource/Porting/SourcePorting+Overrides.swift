// Overrides in extensions, which Objective-C allows and Swift on Linux does not.

extension SourcePorting {
  /// A declaration that goes into its class.
  struct Move {
    /// The declaration with its comment, in whole lines.
    let range: Range<Int>
    /// The closing brace of the class.
    let place: Int
    /// What members of the extension have and those of a class have not.
    let access: String
  }

  /// Notes that the declaration here goes into the class, where that is in the same file; else a person
  /// has to see to it.
  mutating func overrideInExtension(_ token: SwiftToken, of scope: ClassNames.Scope) {
    guard let place = classEnd(scope.name), let range = declaration(around: index) else {
      return remark(
        token, "without Objective-C an extension cannot override; move this into the class")
    }
    var access = ""
    if scope.start > 0 {
      let before = source.tokens[scope.start - 1]
      if ["public", "open", "package"].contains(before.text) { access = before.text }
    }
    moves.append(Move(range: range, place: place, access: access == "open" ? "public" : access))
  }

  /// The closing brace of a class of the file, outside of every condition.
  private func classEnd(_ name: String) -> Int? {
    for index in source.tokens.indices {
      guard let scope = ClassNames.Scope(source.tokens, at: index), scope.kind == "class",
        scope.name == name
      else { continue }
      var open = index
      while open < source.tokens.count, !source.tokens[open].isSymbol("{") { open += 1 }
      guard open < source.tokens.count, let close = source.closing(open),
        source.tokens[close].startsLine
      else { return nil }
      let isConditional = source.tokens[..<index].reduce(0) { depth, token in
        depth + (token.text == "#if" ? 1 : token.text == "#endif" ? -1 : 0)
      }
      return isConditional == 0 ? source.tokens[close].range.lowerBound : nil
    }
    return nil
  }

  /// The lines of the declaration that a modifier belongs to.
  private func declaration(around position: Int) -> Range<Int>? {
    var first = position
    while first > 0, !source.tokens[first].startsLine { first -= 1 }
    // Attributes on lines of their own.
    while first > 1, source.tokens[first - 2].isSymbol("@"), source.tokens[first - 2].startsLine {
      first -= 2
    }
    var last = position
    while last + 1 < source.tokens.count {
      let next = source.tokens[last + 1]
      if next.kind == .pound { return nil }
      if next.isSymbol("{") || next.isSymbol("(") {
        guard let close = source.closing(last + 1) else { return nil }
        last = close
        if next.isSymbol("{") { break }
      } else if next.isSymbol("}")
        || (next.startsLine && (next.kind != .symbol || next.isSymbol("@")) && next.text != "where")
      {
        break
      } else {
        last += 1
      }
    }
    let bytes = source.bytes
    var start = source.lineStart(source.tokens[first].range.lowerBound)
    // The comment above it.
    while start > 0 {
      let above = source.lineStart(start - 1)
      let text = source.text(above..<(start - 1)).drop { $0 == " " || $0 == "\t" }
      guard text.hasPrefix("//"), !text.hasPrefix("// MARK") else { break }
      start = above
    }
    var end = source.tokens[last].range.upperBound
    guard last + 1 == source.tokens.count || source.tokens[last + 1].startsLine else { return nil }
    end = min(source.endOfLine(end) + 1, bytes.count)
    return start..<end
  }

  /// Makes the moves, with the edits inside of what moves.
  mutating func makeMoves() {
    for move in moves {
      let inside = edits.filter {
        $0.range.lowerBound >= move.range.lowerBound && $0.range.upperBound <= move.range.upperBound
      }.sorted { $0.range.lowerBound < $1.range.lowerBound }
      edits.removeAll { inside.contains($0) }
      var text = String(
        decoding: PortedSource.apply(inside, to: source.bytes[move.range]), as: UTF8.self)
      if !move.access.isEmpty, !["public ", "open ", "package "].contains(where: text.contains) {
        text = text.replacing("override ", with: "\(move.access) override ", maxReplacements: 1)
      }
      edits.append(SourceEdit(range: move.range, replacement: ""))
      let line = source.lineStart(move.place)
      edits.append(SourceEdit(range: line..<line, replacement: "\n" + text))
    }
  }
}
