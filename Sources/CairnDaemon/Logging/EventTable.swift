// The table of events as journald's catalogue and as a page of the documentation.

/// Texts that come from ``DaemonEvent`` and are checked in; a test compares them.
enum EventTable {
  /// `systemd/cairn.catalog`, for `journalctl -x`.
  static var catalog: String {
    let entries = DaemonEvent.allCases.map { event in
      """
      -- \(event.entry.id)
      Subject: \(event.entry.subject)
      Defined-By: Cairn
      Support: man:cairnd(8)
      Documentation: man:cairnd(8)

      \(wrapped(event.entry.text, columns: 80))
      """
    }
    return "# Explanations of Cairn's log messages, shown by `journalctl -x`.\n\n"
      + entries.joined(separator: "\n\n") + "\n"
  }

  /// The page of the documentation.
  static var page: String {
    let fields = EventEntry.Field.allCases.filter { field in
      DaemonEvent.allCases.contains { $0.entry.fields.contains(field) }
    }
    let list = DaemonEvent.allCases.map { event in
      let entry = event.entry
      let names = entry.fields.map { "`\($0.journalName)`" }
      return """
        ### \(event.rawValue)

        \(wrapped("\(plain(entry.subject)). Level \(entry.level)"
          + (names.isEmpty ? "." : "; fields \(names.joined(separator: ", ")).")))

        \(wrapped(plain(entry.text)))

        `journalctl MESSAGE_ID=\(entry.id)`
        """
    }
    return """
      # Events in the log

      Every entry that the daemon makes at level info or above, with its fields and what to do.

      ## Overview

      A change of state is one entry; nothing is noted each pass or attempt. In the journal an entry has the
      event's number as `MESSAGE_ID`, its name as `CAIRN_EVENT` and the fields below beside the message, and
      `journalctl -x` explains it; on standard error it is a line of `key=value`, or of JSON. Errors are words
      that stay the same across versions.

      | field | holds |
      |---|---|
      \(fields.map { "| `\($0.journalName)` | \($0.meaning) |" }.joined(separator: "\n"))

      ## Events

      \(list.joined(separator: "\n\n"))

      """
  }

  /// A text without the catalogue's marks.
  private static func plain(_ text: String) -> String {
    text.replacing(/@(CAIRN_\w+)@/) { "`\($0.output.1)`" }
  }

  private static func wrapped(_ text: String, columns: Int = 110) -> String {
    var lines: [String] = []
    var line = ""
    for word in text.split(whereSeparator: \.isWhitespace) {
      if !line.isEmpty, line.count + 1 + word.count > columns {
        lines.append(line)
        line = String(word)
      } else {
        line += (line.isEmpty ? "" : " ") + word
      }
    }
    return (lines + [line]).joined(separator: "\n")
  }
}
