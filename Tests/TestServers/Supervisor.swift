// A shell that starts a server, and ends it with the test process however that ends.

import CairnPlatform
import Foundation
import TestSupport

/// Runs a script in a folder, as a user without rights where the tests run as root: servers refuse to run as root.
///
/// The script says `ready`, and again after each order. It ends the server when its input ends, which the kernel sees to
/// when this process goes, be it killed.
// Unchecked: `order` alone uses the pipes after `init`; one test at a time gives orders to a server.
final class Supervisor: @unchecked Sendable {
  private let input = Pipe()
  private let output = Pipe()
  private let shell = ChildProcess()

  private static let user: String? =
    getuid() != 0
    ? nil
    : ["postgres", "nobody"].first { user in
      (try? String(contentsOfFile: "/etc/passwd", encoding: .utf8))?.contains("\n\(user):") == true
    }

  /// - Parameter folder: It has a file `log` where a start failed.
  init(_ script: String, in folder: String, _ arguments: [String]) throws {
    try script.write(toFile: "\(folder)/run.sh", atomically: false, encoding: .utf8)
    let command = ["/bin/sh", "\(folder)/run.sh", folder] + arguments
    shell.standardInput = input
    shell.standardOutput = output
    if let user = Self.user {
      guard try ChildProcess.run("/bin/chown", ["-R", user, folder]) else {
        throw ServerProblem(description: "\(folder) cannot be given to \(user)")
      }
      shell.executableURL = URL(fileURLWithPath: "/usr/sbin/runuser")
      shell.arguments = ["-u", user, "--"] + command
    } else {
      shell.executableURL = URL(fileURLWithPath: command[0])
      shell.arguments = Array(command.dropFirst())
    }
    // Programs that other tests start must not keep the shell's input open.
    ProcessConduct.closeOnExec(input.fileHandleForWriting.fileDescriptor)
    try shell.run()
    let answer = answer()
    guard answer.hasPrefix("ready") else {
      let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? ""
      throw ServerProblem(description: "the server did not start: \(answer)\n\(log)")
    }
  }

  /// Gives the script an order and waits until it has done it.
  func order(_ command: String) throws {
    input.fileHandleForWriting.write(Data("\(command)\n".utf8))
    let answer = answer()
    guard answer.hasPrefix("ready") else {
      throw ServerProblem(description: "the server did not do it: \(command): \(answer)")
    }
  }

  private func answer() -> String {
    String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
  }
}

package struct ServerProblem: Error, CustomStringConvertible {
  package let description: String
}
