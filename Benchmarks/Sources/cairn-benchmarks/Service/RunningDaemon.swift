// A real cairnd in a folder of its own.

import Foundation

/// A daemon that runs until ``stop()``.
final class RunningDaemon {
  let folder: URL
  let local: URL
  private let programs: URL
  private let daemon: Program

  var figures: ProcessFigures { ProcessFigures(id: daemon.id) }

  /// Starts a daemon of this build on `folder`'s local store, and waits until its store is open.
  ///
  /// - Parameter replicas: How many empty replicas it has.
  init(in folder: URL, programs: URL, replicas: Int = 0) throws {
    self.folder = folder
    self.programs = programs
    local = folder.appendingPathComponent("local.sqlite")
    try ServiceModel.write(to: folder)
    let configuration = folder.appendingPathComponent("cairnd.yaml")
    try Self.configuration(of: folder, replicas: replicas)
      .write(to: configuration, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: configuration.path)
    daemon = try Program(
      programs.appendingPathComponent("cairnd").path, ["--config", configuration.path],
      log: folder.appendingPathComponent("log"))
    for _ in 0..<600 {
      guard daemon.process.isRunning else { throw failure("cairnd did not start") }
      // Fails until the local store is open, other than `status`.
      if (try? control("stores")) != nil { return }
      usleep(50_000)
    }
    stop()
    throw failure("cairnd does not answer")
  }

  deinit { stop() }

  static func replica(_ number: Int, in folder: URL) -> URL {
    folder.appendingPathComponent("replica-\(number).sqlite")
  }

  /// Runs cairnctl.
  @discardableResult
  func control(_ arguments: String...) throws -> String {
    try Program.run(
      programs.appendingPathComponent("cairnctl").path,
      ["--socket", folder.appendingPathComponent("control").path] + arguments)
  }

  func add(_ replica: URL, direction: String = "both") throws {
    let name = replica.deletingPathExtension().lastPathComponent
    try control("store", "add", name, "sqlite", replica.path, "--direction", direction)
  }

  /// Returns when every replica has what was committed before.
  func waitForReplicas() throws { try control("wait", "--for", "all", "--timeout", "1800") }

  func stop() {
    guard daemon.process.isRunning else { return }
    daemon.process.terminate()
    daemon.process.waitUntilExit()
  }

  private func failure(_ text: String) -> RawError {
    let log = try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)
    return RawError(description: "\(text): \(log?.suffix(2000) ?? "")")
  }

  private static func configuration(of folder: URL, replicas: Int) -> String {
    var text = """
      model: \(ServiceModel.file(in: folder).path)
      control:
        socket: \(folder.appendingPathComponent("control").path)
      local:
        path: \(folder.appendingPathComponent("local.sqlite").path)
      log:
        level: info
        format: logfmt

      """
    if replicas > 0 { text += "replicas:\n" }
    for number in 0..<replicas {
      text += """
          - name: replica-\(number)
            type: sqlite
            path: \(replica(number, in: folder).path)

        """
    }
    return text
  }
}
