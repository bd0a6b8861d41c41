// The real `cairnctl browse`, asked over its socket or port.
import Cairn
import Foundation
import FoundationNetworking
import TestSupport
import Testing

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

  @Test func pagesComeOverAUnixSocketAndNothingInAStoreIsMarkup() async throws {
    let socket = folder.file("s")
    let browser = try await ServedPages(["browse", store, "--listen", socket])
    #expect(browser.location == "unix:\(socket)")
    let overview = try await browser.answer("/")
    #expect(overview.hasPrefix("HTTP/1.1 200 OK"))
    #expect(overview.contains("<svg") && overview.contains("href=\"/entities/Author\""))
    let rows = try await browser.answer("/entities/Author")
    #expect(rows.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !rows.contains("<script"))
    for (path, code) in [
      ("/entities/Nope", "404"), ("/records/Author/p99", "404"), ("/nothing", "404"),
      ("/entities/Author?where=name%20%3D%3D", "400"), ("/history", "404"), ("/check", "200"),
      ("/style.css", "200"), ("/diagram.svg", "200"), ("/records/Author/%2e%2e", "404"),
      ("/entities/Author?page=99999999999999999999", "200"), ("/entities/Author?sort=", "200"),
    ] {
      #expect(try await browser.answer(path).hasPrefix("HTTP/1.1 \(code)"), "\(path)")
    }
    #expect(try await browser.answer("/", method: "POST").hasPrefix("HTTP/1.1 405"))
    #expect(try await browser.answer("/", host: "evil.example").hasPrefix("HTTP/1.1 421"))
    #expect(try await browser.answer("/", method: "DELETE").hasPrefix("HTTP/1.1 405"))
    #expect(try await browser.end() == 0)
  }

  @Test func aBrowserMayRunNothingAndLoadNothingElse() async throws {
    let socket = folder.file("s")
    let browser = try await ServedPages(["browse", store, "--listen", "unix:\(socket)"])
    for path in ["/", "/nothing", "/style.css"] {
      let answer = try await browser.answer(path).lowercased()
      #expect(answer.contains("content-security-policy: default-src 'none'"), "\(path)")
      #expect(answer.contains("x-content-type-options: nosniff"), "\(path)")
      #expect(answer.contains("cache-control: no-store"), "\(path)")
    }
    #expect(try await browser.end() == 0)
  }

  @Test func aPortNeedsTheKeyOnceAndTheCookieFromThenOn() async throws {
    let browser = try await ServedPages(["browse", store])
    let base = try #require(browser.location.split(separator: "?").first.map(String.init))
    let stranger = URLSession(configuration: .ephemeral)
    #expect(try await ServedPages.answer(base, in: stranger).code == 403)
    #expect(
      try await ServedPages.answer(base + "entities/Author?key=0123", in: stranger).code == 403)
    let session = URLSession(configuration: .ephemeral)
    let first = try await ServedPages.answer(browser.location, in: session)
    #expect(first.code == 200 && first.text.contains("Author"))
    #expect(try await ServedPages.answer(base + "entities/Author", in: session).code == 200)
    #expect(try await ServedPages.answer(base + "style.css", in: stranger).code == 403)
    #expect(try await browser.end() == 0)
  }

  @Test func aNameThatLeadsHereIsNotServed() async throws {
    let browser = try await ServedPages(["browse", store])
    let session = URLSession(configuration: .ephemeral)
    let answer = try await ServedPages.answer(browser.location, host: "evil.example", in: session)
    #expect(answer.code == 421 && !answer.text.contains("entities/"))
    #expect(try await browser.end() == 0)
  }

  @Test func badInputIsRefusedBeforeAnythingIsServed() async throws {
    let program = try #require(Project.program("cairnctl"))
    for (arguments, code, text) in [
      (["\(folder.path)/nothing"], 1, "there is no such file"), ([folder.path], 1, "is a folder"),
      (["/etc/passwd"], 1, "/etc/passwd is not an SQLite database, nor an XML or binary store"),
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
    let browser = try await ServedPages(["browse", store, "--listen", socket])
    let second = try await run(program, ["browse", store, "--listen", socket])
    #expect(second.code == 1 && second.errors.contains("another program listens on"))
    #expect(try await browser.answer("/").hasPrefix("HTTP/1.1 200"))
    #expect(try await browser.end() == 0)
    let refused = try await run(program, ["browse", store, "--listen", file])
    #expect(refused.code == 1 && refused.errors.contains("is no socket"))
    #expect(FileManager.default.contents(atPath: file) == Data("text".utf8))
  }

  @Test func aSocketThatAKilledProgramLeftIsReplaced() async throws {
    let socket = folder.file("s")
    let killed = try await ServedPages(["browse", store, "--listen", socket])
    killed.kill()
    #expect(FileManager.default.fileExists(atPath: socket))
    let browser = try await ServedPages(["browse", store, "--listen", socket])
    #expect(try await browser.answer("/").hasPrefix("HTTP/1.1 200"))
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
