// What the examples say of themselves, and a folder for their stores.

import Foundation

/// Ends the program with 1 when something does not hold.
public func check(_ holds: Bool, _ rule: String, line: Int = #line) {
  if holds { return }
  print("line \(line): does not hold: \(rule)")
  exit(1)
}

/// An empty folder that only this run uses.
public func scratchFolder() -> URL {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("cairn-example-\(UUID().uuidString)")
  do {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  } catch {
    print("there is no folder for the stores: \(error)")
    exit(1)
  }
  return folder
}

/// The last words of an example.
public func finish(_ text: String, removing folder: URL? = nil) -> Never {
  if let folder { try? FileManager.default.removeItem(at: folder) }
  print(text)
  exit(0)
}
