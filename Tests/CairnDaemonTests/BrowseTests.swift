// The real `cairnctl browse`, asked over its socket or port.
import Cairn
import CairnPlatform
import Foundation
import FoundationNetworking
import Synchronization
import Testing

/// A running `cairnctl browse`.
///
/// It is ended with the object, if not before.
private final class Browser: Sendable {
  /// What the program printed first: the address.
  let location: String
  private let process: Mutex<Process>

  init(_ arguments: [String]) async throws {
    let program = try #require(Project.program("cairnctl"), "build the products first")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["browse"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = Mutex(process)
    let descriptor = output.fileHandleForReading
    location = try await offPool {
      var line: [UInt8] = []
      while let byte = try descriptor.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
        line.append(byte)
      }
      return String(decoding: line, as: UTF8.self)
    }
  }

  deinit { process.withLock { if $0.isRunning { $0.terminate() } } }

  /// Ends the program as a crash does, and waits for that.
  func kill() {
    process.withLock {
      ProcessConduct.send(signal: 9, to: $0.processIdentifier)
      $0.waitUntilExit()
    }
  }

  /// Asks the program to end, and returns its exit code.
  func end() async throws -> Int32 {
    let identifier = process.withLock { $0.processIdentifier }
    ProcessConduct.send(signal: 15, to: identifier)
    return try await offPool {
      self.process.withLock {
        $0.waitUntilExit()
        return $0.terminationStatus
      }
    }
  }
}

@Suite struct BrowseTests {
  private let folder: TemporaryFolder
  private var store: String { folder.file("Library.sqlite") }

  init() throws {
    folder = try TemporaryFolder()
    let author = EntityDescription(
      name: "Author", properties: [AttributeDescription(name: "name", type: .string)])
    let model = ManagedObjectModel()
    model.entities = [author]
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      ofType: "SQLite", configurationName: nil, at: URL(fileURLWithPath: store), options: [:])
    let context = ManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for name in ["Ann", "<script>alert(1)</script>"] {
        ManagedObject(entity: author, insertInto: context).setValue(name, forKey: "name")
      }
      try context.save()
    }
    try coordinator.remove(opened)
  }

  /// The answer to a request over a Unix socket.
  private func answer(
    _ path: String, method: String = "GET", socket: String
  ) async throws -> String {
    try await offPool {
      let stream = try UnixStream(connectingTo: socket)
      defer { stream.close() }
      try stream.write(
        Array("\(method) \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
      var bytes: [UInt8] = []
      while true {
        let more = try stream.read(timeout: .seconds(30))
        if more.isEmpty { return String(decoding: bytes, as: UTF8.self) }
        bytes += more
      }
    }
  }

  /// The answer to a request over a port, with redirects followed.
  private func answer(
    _ address: String, host: String? = nil, in session: URLSession
  ) async throws -> (code: Int, text: String) {
    var request = URLRequest(url: try #require(URL(string: address)))
    if let host { request.setValue(host, forHTTPHeaderField: "Host") }
    let (data, response) = try await session.data(for: request)
    return (
      (response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self)
    )
  }

  @Test func pagesComeOverAUnixSocketAndNothingInAStoreIsMarkup() async throws {
    let socket = folder.file("s")
    let browser = try await Browser([store, "--listen", socket])
    #expect(browser.location == "unix:\(socket)")
    let overview = try await answer("/", socket: socket)
    #expect(overview.hasPrefix("HTTP/1.1 200 OK"))
    #expect(overview.contains("<svg") && overview.contains("href=\"/entities/Author\""))
    let rows = try await answer("/entities/Author", socket: socket)
    #expect(rows.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !rows.contains("<script"))
    for (path, code) in [
      ("/entities/Nope", "404"), ("/records/Author/p99", "404"), ("/nothing", "404"),
      ("/entities/Author?where=name%20%3D%3D", "400"), ("/history", "404"), ("/check", "200"),
      ("/style.css", "200"), ("/diagram.svg", "200"), ("/records/Author/%2e%2e", "404"),
      ("/entities/Author?page=99999999999999999999", "200"), ("/entities/Author?sort=", "200"),
    ] {
      #expect(try await answer(path, socket: socket).hasPrefix("HTTP/1.1 \(code)"), "\(path)")
    }
    #expect(try await answer("/", method: "POST", socket: socket).hasPrefix("HTTP/1.1 405"))
    #expect(try await answer("/", method: "DELETE", socket: socket).hasPrefix("HTTP/1.1 405"))
    #expect(try await browser.end() == 0)
  }

  @Test func aBrowserMayRunNothingAndLoadNothingElse() async throws {
    let socket = folder.file("s")
    let browser = try await Browser([store, "--listen", "unix:\(socket)"])
    for path in ["/", "/nothing", "/style.css"] {
      let answer = try await answer(path, socket: socket).lowercased()
      #expect(answer.contains("content-security-policy: default-src 'none'"), "\(path)")
      #expect(answer.contains("x-content-type-options: nosniff"), "\(path)")
      #expect(answer.contains("cache-control: no-store"), "\(path)")
    }
    #expect(try await browser.end() == 0)
  }

  @Test func aPortNeedsTheKeyOnceAndTheCookieFromThenOn() async throws {
    let browser = try await Browser([store])
    let base = try #require(browser.location.split(separator: "?").first.map(String.init))
    let stranger = URLSession(configuration: .ephemeral)
    #expect(try await answer(base, in: stranger).code == 403)
    #expect(try await answer(base + "entities/Author?key=0123", in: stranger).code == 403)
    let session = URLSession(configuration: .ephemeral)
    let first = try await answer(browser.location, in: session)
    #expect(first.code == 200 && first.text.contains("Author"))
    #expect(try await answer(base + "entities/Author", in: session).code == 200)
    #expect(try await answer(base + "style.css", in: stranger).code == 403)
    #expect(try await browser.end() == 0)
  }

  @Test func aNameThatLeadsHereIsNotServed() async throws {
    let browser = try await Browser([store])
    let session = URLSession(configuration: .ephemeral)
    let answer = try await answer(browser.location, host: "evil.example", in: session)
    #expect(answer.code == 421 && !answer.text.contains("entities/"))
    #expect(try await browser.end() == 0)
  }

  @Test func badInputIsRefusedBeforeAnythingIsServed() async throws {
    let program = try #require(Project.program("cairnctl"))
    for (arguments, code, text) in [
      (["\(folder.path)/nothing"], 1, "there is no such file"), ([folder.path], 1, "is a folder"),
      ([store, "--listen", "0.0.0.0:80"], 64, "is not of this machine alone"),
      ([store, "--listen", "\(folder.path)/no/such/folder"], 1, "cannot listen on"),
      ([store, "--model", "\(folder.path)/nothing.xcdatamodeld"], 1, "nothing.xcdatamodeld"),
    ] as [([String], Int32, String)] {
      let outcome = try await run(program, ["browse"] + arguments)
      #expect(outcome.code == code, "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.contains(text), "\(outcome.errors)")
      #expect(outcome.output.isEmpty)
    }
  }

  @Test func aSocketThatIsInUseAndAnyOtherFileStayAsTheyAre() async throws {
    let program = try #require(Project.program("cairnctl"))
    let (socket, file) = (folder.file("s"), folder.file("text"))
    try Data("text".utf8).write(to: URL(fileURLWithPath: file))
    let browser = try await Browser([store, "--listen", socket])
    let second = try await run(program, ["browse", store, "--listen", socket])
    #expect(second.code == 1 && second.errors.contains("another program listens on"))
    #expect(try await answer("/", socket: socket).hasPrefix("HTTP/1.1 200"))
    #expect(try await browser.end() == 0)
    let refused = try await run(program, ["browse", store, "--listen", file])
    #expect(refused.code == 1 && refused.errors.contains("is no socket"))
    #expect(FileManager.default.contents(atPath: file) == Data("text".utf8))
  }

  @Test func aSocketThatAKilledProgramLeftIsReplaced() async throws {
    let socket = folder.file("s")
    let killed = try await Browser([store, "--listen", socket])
    killed.kill()
    #expect(FileManager.default.fileExists(atPath: socket))
    let browser = try await Browser([store, "--listen", socket])
    #expect(try await answer("/", socket: socket).hasPrefix("HTTP/1.1 200"))
    #expect(try await browser.end() == 0)
  }

  @Test func graphWritesAStoresModelAndAModelFile() async throws {
    let program = try #require(Project.program("cairnctl"))
    let svg = try await run(program, ["model", "graph", store])
    #expect(svg.code == 0 && svg.output.hasPrefix("<svg") && svg.output.contains(">Author</text>"))
    let file = Project.file("Config/demo/DebianPackages.xcdatamodeld")
    let dot = try await run(program, ["model", "graph", file, "--format", "dot"])
    #expect(dot.code == 0 && dot.output.hasPrefix("digraph \"DebianPackages.xcdatamodeld\""))
    let mermaid = try await run(program, ["model", "graph", file, "--format", "mermaid"])
    #expect(mermaid.output.hasPrefix("erDiagram"))
    let unknown = try await run(program, ["model", "graph", file, "--model-version", "Nope"])
    #expect(unknown.code == 1 && unknown.errors.contains("has no version Nope"))
    #expect(unknown.errors.contains("hint: its versions are "))
  }
}
