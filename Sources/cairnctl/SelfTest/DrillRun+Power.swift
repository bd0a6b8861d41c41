// The self-test: losses of power.
import CairnPlatform
import Foundation

extension DrillRun {
  /// Cuts of a round at most.
  private static let cutsOfRound = 4
  /// More saves than a writer makes between two cuts.
  private static let savesBetweenCuts = 1_000_000

  /// New stores on a file system of their own, whose power goes at any time while programs write.
  func cutRound(_ power: DrillPower, isOver: () -> Bool) throws {
    DrillFolder.remove(stores)
    try power.mount(at: stores)
    do {
      var open = try begin()
      for number in 1...Self.cutsOfRound where number == 1 || !isInterrupted() && !isOver() {
        open = try cut(power, open, number)
        try recover()
      }
      writing.pause()
      try finish()
      writing.end()
      count()
      try open.close()
      try power.unmount()
    } catch {
      writing.end()
      daemon.expectEnd()
      daemon.kill()
      _ = try? daemon.ends(within: 30)
      let cause = keepStores(after: error)
      try? power.unmount()
      throw cause
    }
  }

  /// Copies the stores to where they outlive this program, with which their mount is gone.
  ///
  /// - Returns: The error, which also says so where they cannot be copied.
  private func keepStores(after error: any Error) -> any Error {
    let copy = "\(folder.path)/stores-after-cut"
    do {
      try DrillFolder.copy(stores, to: copy)
      return error
    } catch let obstacle {
      return Broken(
        text: describe(error) + "; the stores cannot be copied to \(copy): "
          + obstacle.localizedDescription)
    }
  }

  /// - Parameters:
  ///   - open: The store that a writer has open.
  ///   - number: Of the cut in its round.
  /// - Returns: The store that the writer after the cut has open.
  private func cut(_ power: DrillPower, _ open: DrillStore, _ number: Int) throws -> DrillStore {
    daemon.arm([])
    if !daemon.isRunning { try daemon.start() }
    try waitUntilServing()
    writing.resume()
    sleep(milliseconds: 50 + dice.next(below: 1200))
    // What this program itself has mapped of a file must not lose its power: the program that writes past the daemon
    // has ended shortly before. Its store is open in the daemon still, so nothing of it is flushed by that.
    writing.end("program")
    try open.close()
    sleep(milliseconds: dice.next(below: 200))
    daemon.expectEnd()
    let before = writing.promises
    try power.cut()
    daemon.kill()
    _ = try daemon.ends(within: 30)
    writing.end()
    report.powerCuts += 1
    if try power.restore() { report.powerCutsThatShow += 1 }
    let last = number * Self.savesBetweenCuts
    writing = DrillWriting(
      promises: writing.promises.doubtful(since: before), refused: writing.refused)
    DrillWriter.throughDaemon(daemon.socket, writing, after: last)
    progress("power cut")
    return try DrillWriter.toFile(paths[1], model: model, writing, after: last)
  }

  private func sleep(milliseconds: UInt64) {
    Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
  }
}
