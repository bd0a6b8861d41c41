// cairnctl browse
import ArgumentParser
import CairnBrowser
import CairnPlatform
import CairnRecords
import Dispatch
import Foundation

struct BrowseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse",
    abstract: "Look through a Core Data store in a web browser, read-only.",
    discussion: """
      Prints the address to open and serves the pages until Ctrl-C: the entities as a diagram, rows with \
      their relationships as links, a field for predicates, the history of each record, and a check of the \
      file. Needs no daemon; opens stores that Apple's frameworks wrote, too.
      The pages can be seen from this machine only, with the key in the address, or through a Unix socket.
      Example: cairnctl browse Library.sqlite
      """)

  @Argument(help: ArgumentHelp("The store's file: SQLite, XML or binary.", valueName: "file"))
  var path: String

  @Option(
    help: ArgumentHelp(
      "The file's model; the one that it keeps inside when left out.",
      valueName: "model"))
  var model: String?

  @Option(
    help: ArgumentHelp(
      "A port, 127.0.0.1:PORT, [::1]:PORT or a Unix socket's path; any free port when left out.",
      valueName: "address"))
  var listen: String?

  func run() throws {
    let address: ListenAddress
    do {
      address = try listen.map { try ListenAddress($0) } ?? .anyPort
    } catch let error as ListenAddressError {
      throw ValidationError("--listen: \(error.reason).")
    }
    if case .socket(let path) = address { try Self.checkSocket(path) }
    let store = try StoreFile(path: path, model: model).store
    let browser = try StoreBrowser(store, address: address)
    try Self.wait {
      do {
        try await browser.run { location in
          Output.line(location)
          Output.note("Serving \(path) read-only; Ctrl-C ends it.")
        }
      } catch {
        throw CommandFailure(
          message: "cannot listen on \(address): \(error)", hint: "name another by --listen")
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
