// Where pages are served.
import ArgumentParser
import CairnBrowser
import CairnPlatform
import Dispatch
import Foundation
import NIOCore

/// The address of commands that serve pages to a web browser.
struct ListenOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A port, 127.0.0.1:PORT, [::1]:PORT or a Unix socket's path; any free port when left out.",
      valueName: "address"))
  var listen: String?

  /// The address, where nothing else is.
  func address() throws -> ListenAddress {
    let address: ListenAddress
    do {
      address = try listen.map { try ListenAddress($0) } ?? .anyPort
    } catch let error as ListenAddressError {
      throw ValidationError("--listen: \(error.reason).")
    }
    if case .socket(let path) = address { try Self.checkSocket(path) }
    return address
  }

  /// Serves on the main thread until the process is asked to end.
  ///
  /// - Throws: ``CommandFailure`` where the address cannot be listened on.
  func serve(
    _ address: ListenAddress, _ body: @escaping @Sendable () async throws -> Void
  ) throws {
    try Self.wait {
      do {
        try await body()
      } catch {
        let code = (error as? IOError).map { ErrnoCode(rawValue: $0.errnoCode) }
        let advice = code?.advice.map { "\($0); " } ?? ""
        throw CommandFailure(
          message: "cannot listen on \(address): \(code?.explanation ?? "\(error)")",
          hint: "\(advice)name another by --listen")
      }
    }
  }

  /// A socket that a program left behind is replaced when the pages are served; one that a program
  /// listens on, or another file, is not.
  private static func checkSocket(_ path: String) throws {
    guard let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] else { return }
    guard type as? FileAttributeType == .typeSocket else {
      throw CommandFailure(
        message: "\(path) is there and is no socket", hint: "name another path by --listen")
    }
    if let stream = try? UnixStream(connectingTo: path) {
      stream.close()
      throw CommandFailure(
        message: "another program listens on \(path)", hint: "name another path by --listen")
    }
  }

  /// Waits on the main thread until the task is done.
  private static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
    let outcome = TaskOutcome()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        try await body()
      } catch {
        outcome.error = error
      }
      done.signal()
    }
    done.wait()
    if let error = outcome.error { throw error }
  }
}

/// What a task ended with.
// Unchecked: the task writes before it signals, the waiting thread reads after that.
private final class TaskOutcome: @unchecked Sendable {
  var error: (any Error)?
}
