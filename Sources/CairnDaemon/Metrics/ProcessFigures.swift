// What the kernel says of this process.

import CairnPlatform
import Foundation

/// Processor time, memory, descriptors and threads of this process; nil where the kernel does not say.
struct ProcessFigures: Sendable, Hashable {
  var processorSeconds: Double?
  var residentBytes: Int?
  var openFiles: Int?
  var threads: Int?

  /// As they are now.
  static var current: ProcessFigures {
    var figures = ProcessFigures()
    if let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8) {
      figures.read(stat: text, pageSize: HostIdentity.pageSize, ticks: HostIdentity.clockTicks)
    }
    // The folder that is read is open itself.
    figures.openFiles = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))
      .map { max(0, $0.count - 1) }
    return figures
  }

  /// How many files it may have open; nil for any number.
  static var mostOpenFiles: Int? {
    let text = try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("Max open files") }
    return line?.split(separator: " ").dropFirst(3).first.flatMap { Int($0) }
  }

  /// Takes the fields behind the program's name, which may hold blanks and parentheses.
  mutating func read(stat: String, pageSize: Int, ticks: Int) {
    guard let end = stat.lastIndex(of: ")"), ticks > 0 else { return }
    let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
    func number(_ field: Int) -> Int? {
      // The first of these is the third of proc(5).
      fields.indices.contains(field - 3) ? Int(fields[field - 3]) : nil
    }
    if let user = number(14), let system = number(15) {
      processorSeconds = Double(user + system) / Double(ticks)
    }
    threads = number(20)
    residentBytes = number(24).map { $0 * pageSize }
  }
}
