// A diagram for other programs to draw.

extension EntityDiagram {
  /// The diagram in Graphviz's language.
  public func dot() -> String {
    var text = """
      digraph \(Self.quoted(title)) {
        rankdir=LR
        node [shape=plain fontname="monospace" fontsize=11]
        edge [fontname="monospace" fontsize=10 arrowsize=0.7]

      """
    for box in boxes {
      var rows =
        "<tr><td colspan=\"2\" bgcolor=\"#e7edf4\"><b>\(Markup.escaped(box.entity))</b></td></tr>"
      for (index, row) in box.rows.enumerated() {
        rows += """
          <tr><td align="left" port="r\(index)">\(Markup.escaped(row.name))</td>\
          <td align="left">\(Markup.escaped(DiagramMeasure.typeText(row)))</td></tr>
          """
      }
      text += """
          \(Self.quoted(box.entity)) [label=<<table border="0" cellborder="1" cellspacing="0">\(rows)</table>>]

        """
    }
    for line in lines {
      let ends = "  \(Self.quoted(line.from)) -> \(Self.quoted(line.to))"
      switch line.kind {
      case .inheritance: text += ends + " [arrowhead=onormal]\n"
      case .relationship(let name, let isToMany, let inverse, let inverseIsToMany):
        let head = isToMany ? "veevee" : "vee"
        let tail = inverse == nil ? "none" : inverseIsToMany ? "veevee" : "vee"
        let label = inverse.map { "\(name) / \($0)" } ?? name
        text +=
          ends
          + " [dir=both arrowhead=\(head) arrowtail=\(tail) label=\(Self.quoted(label))]\n"
      }
    }
    return text + "}\n"
  }

  /// The diagram in Mermaid's language, as an entity relationship diagram.
  ///
  /// Mermaid takes letters, digits, `_` and `-` as names of attributes; other characters become `_`.
  public func mermaid() -> String {
    var text = "erDiagram\n"
    for box in boxes {
      let attributes = box.rows.filter { $0.isToMany == nil }
      let name = Self.mermaidName(box.entity)
      if attributes.isEmpty {
        text += "  \(name)\n"
        continue
      }
      text += "  \(name) {\n"
      for row in attributes {
        text += "    \(Self.mermaidWord(row.type)) \(Self.mermaidWord(row.name))\n"
      }
      text += "  }\n"
    }
    for line in lines {
      let (from, to) = (Self.mermaidName(line.from), Self.mermaidName(line.to))
      switch line.kind {
      case .inheritance: text += "  \(to) ||..|| \(from) : \"superentity of\"\n"
      case .relationship(let name, let isToMany, let inverse, let inverseIsToMany):
        let left = inverseIsToMany ? "}o" : inverse == nil ? "}o" : "|o"
        let right = isToMany ? "o{" : "o|"
        let label = inverse.map { "\(name) / \($0)" } ?? name
        text += "  \(from) \(left)--\(right) \(to) : \(Self.mermaidQuoted(label))\n"
      }
    }
    return text
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : $0 == "\n" ? "\\n" : "\($0)" }.joined()
      + "\""
  }

  private static func mermaidName(_ text: String) -> String {
    text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") } && !text.isEmpty
      ? text : mermaidQuoted(text)
  }

  private static func mermaidQuoted(_ text: String) -> String {
    "\"" + text.map { $0 == "\"" ? "'" : $0.isNewline || $0 < " " ? " " : "\($0)" }.joined() + "\""
  }

  private static func mermaidWord(_ text: String) -> String {
    let word = text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
    // A name that begins with a digit is none.
    return word.first?.isNumber == true ? "_" + String(word) : String(word)
  }
}
