/// A change of a source file: bytes replaced by a text.
package struct SourceEdit: Equatable {
  package let range: Range<Int>
  package let replacement: String
}

/// What porting does with a file.
package struct PortedSource {
  package let source: SwiftText
  /// In order, without overlap.
  package let edits: [SourceEdit]
  /// What is left for a person.
  package let remarks: [SourceProblem]

  /// The file with the edits made.
  package var bytes: [UInt8] { Self.apply(edits, to: source.bytes[...]) }

  /// Whether the target must depend on the package OpenCombine now.
  package var needsOpenCombine: Bool {
    edits.contains { $0.replacement.contains("import OpenCombineShim") }
  }

  static func apply(_ edits: [SourceEdit], to bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var position = bytes.startIndex
    for edit in edits {
      result += bytes[position..<edit.range.lowerBound]
      result += Array(edit.replacement.utf8)
      position = edit.range.upperBound
    }
    return result + bytes[position...]
  }

  // MARK: Difference

  /// The edits as a unified difference, as `diff -u` prints it; empty without edits.
  package func difference(context: Int = 3) -> String {
    var starts = [0]
    for (index, byte) in source.bytes.enumerated() where byte == UInt8(ascii: "\n") {
      if index + 1 < source.bytes.count { starts.append(index + 1) }
    }
    func line(of offset: Int) -> Int {
      var low = 0
      var high = starts.count
      while high - low > 1 {
        let middle = (low + high) / 2
        if starts[middle] <= offset { low = middle } else { high = middle }
      }
      return low
    }
    func end(_ line: Int) -> Int { line + 1 < starts.count ? starts[line + 1] : source.bytes.count }

    // Lines that belong to one change.
    var changes: [(first: Int, last: Int, edits: [SourceEdit])] = []
    for edit in edits {
      let first = line(of: edit.range.lowerBound)
      let last = line(of: max(edit.range.lowerBound, edit.range.upperBound - 1))
      if let previous = changes.last, previous.last >= first {
        changes[changes.count - 1].last = max(previous.last, last)
        changes[changes.count - 1].edits.append(edit)
      } else {
        changes.append((first, last, [edit]))
      }
    }
    func texts(_ bytes: some Collection<UInt8>) -> [String] {
      var lines = String(decoding: Array(bytes), as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      if lines.last == "" { lines.removeLast() }
      return lines
    }

    var result = edits.isEmpty ? "" : "--- \(source.path)\n+++ \(source.path)\n"
    var shift = 0
    var index = 0
    while index < changes.count {
      var group = [changes[index]]
      while index + 1 < changes.count,
        changes[index + 1].first - changes[index].last <= 2 * context
      {
        index += 1
        group.append(changes[index])
      }
      index += 1
      let first = max(0, group[0].first - context)
      let last = min(starts.count - 1, (group.last?.last ?? 0) + context)
      var body: [String] = []
      var newCount = 0
      var next = first
      for change in group {
        for number in next..<change.first {
          body.append(" " + (texts(source.bytes[starts[number]..<end(number)]).first ?? ""))
          newCount += 1
        }
        let old = source.bytes[starts[change.first]..<end(change.last)]
        let new = texts(Self.apply(change.edits, to: old))
        body += texts(old).map { "-" + $0 } + new.map { "+" + $0 }
        newCount += new.count
        next = change.last + 1
      }
      if next <= last {
        for number in next...last {
          body.append(" " + (texts(source.bytes[starts[number]..<end(number)]).first ?? ""))
          newCount += 1
        }
      }
      let oldCount = last - first + 1
      result += "@@ -\(first + 1),\(oldCount) +\(first + 1 + shift),\(newCount) @@\n"
      result += body.joined(separator: "\n") + "\n"
      shift += newCount - oldCount
    }
    return result
  }
}
