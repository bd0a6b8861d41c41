// What can be said of a disk without cutting its power.
import CairnPlatform
import Foundation

/// The file system that the stores are on.
struct DrillDisk: Encodable {
  /// As in `mount`, such as `ext4`.
  let kind: String
  /// Whether it is gone with the power in any case.
  let isMemory: Bool
  /// Whether other machines may write to it.
  let isShared: Bool
  /// How long a small write takes to be called durable, in milliseconds; nil where that fails.
  let flush: Double?

  init(folder: String) {
    kind = FileSystemKind.name(at: folder)
    isMemory = ["tmpfs", "ramfs"].contains(kind)
    isShared = FileSystemKind.isShared(at: folder)
    flush = Self.flushTime(in: folder)
  }

  /// The median of some.
  private static func flushTime(in folder: String) -> Double? {
    let path = "\(folder)/flush"
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { return nil }
    defer {
      try? file.close()
      try? FileManager.default.removeItem(atPath: path)
    }
    var times: [UInt64] = []
    do {
      for _ in 0..<15 {
        try file.write(contentsOf: Data(repeating: 1, count: 4096))
        let start = MonotonicClock.nanoseconds
        try file.synchronize()
        times.append(MonotonicClock.nanoseconds - start)
      }
    } catch {
      return nil
    }
    return Double(times.sorted()[times.count / 2]) / 1e6
  }

  /// What of durability cannot be shown here.
  var notProven: [String] {
    if isMemory {
      return ["durability: \(kind) is memory, and a loss of power ends it; try a folder on a disk"]
    }
    guard let flush else {
      return ["durability: a file here cannot be flushed to the disk; stores would be refused"]
    }
    var result = [
      "loss of power: a kill leaves what the kernel holds. Flushes to the disk are asked for and "
        + "answered; whether the disk keeps its word shows only when its power is cut"
    ]
    if flush < 0.02 {
      result.append(
        "flushes: they take \(String(format: "%.3f", flush)) ms, which is less than disks need; "
          + "something between may only say so")
    }
    return result
  }
}
