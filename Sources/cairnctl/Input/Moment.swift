// Times as people write them.
import ArgumentParser
import CairnControl
import Foundation

/// A moment given on the command line: a date, a time, or an age.
struct Moment: ExpressibleByArgument, Sendable {
  let date: WireDate

  /// Reads `2026-03-14`, `2026-03-14T15:09`, the same with seconds, with an offset or Z, and ages such
  /// as `90m`, `12h` or `7d`; UTC where no offset is given.
  init?(argument: String) {
    if let age = Age(argument: argument) {
      date = WireDate(Date(timeIntervalSinceNow: -age.seconds))
      return
    }
    let text = argument.uppercased().replacingOccurrences(of: " ", with: "T")
    var clock = text.contains("T") ? "" : "T00:00:00"
    if text.wholeMatch(of: /.*T\d\d:\d\d/) != nil { clock = ":00" }
    let candidates = [text, text + clock, text + clock + "Z", text + "Z"]
    guard let found = candidates.lazy.compactMap(WireDate.parse).first else { return nil }
    date = WireDate(found)
  }
}

/// A length of time given on the command line: a number with s, m, h or d.
struct Age: ExpressibleByArgument, Sendable {
  let seconds: Double

  init?(argument: String) {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
    guard let unit = argument.last.flatMap({ units[$0] }), let number = UInt32(argument.dropLast())
    else { return nil }
    seconds = Double(number) * unit
  }
}

/// The ID of a record or of a conflict, as lists show it.
struct EntryID: ExpressibleByArgument, Sendable {
  let text: String

  init?(argument: String) {
    guard UUID(uuidString: argument) != nil else { return nil }
    text = argument
  }
}
