// What the page "PostgreSQL stores" tells people to type works, in its order.

import Cairn
import Foundation
import TestServers
import TestSupport
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct PostgreSQLGuideTests {
  static let page: String = {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let file = folder.appendingPathComponent(
      "../../../Sources/Cairn/Cairn.docc/PostgreSQLStores.md")
    return (try? String(contentsOf: file.standardizedFileURL, encoding: .utf8)) ?? ""
  }()

  /// The page's blocks in a language.
  static func blocks(_ language: String) -> [String] {
    page.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }
  }

  let server: PostgreSQLServer

  init() throws { server = try PostgreSQLServer.shared }

  private func run(_ line: String) throws {
    let words = line.split(separator: " ").map(String.init)
    let process = ChildProcess()
    process.executableURL = URL(
      fileURLWithPath: "\(try #require(PostgreSQLServer.programs))/\(words[0])")
    process.arguments = Array(words.dropFirst())
    process.environment = [
      "PGHOST": server.folder, "PGPORT": "\(server.port)", "PGUSER": "owner", "PATH": "/usr/bin",
    ]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(line)")
  }

  /// The page names no server; here it is that of the tests.
  private func here(_ url: URL?) throws -> URL {
    let host = server.folder.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let text = try #require(url).absoluteString.replacing(
      "#", with: "?host=\(host)&port=\(server.port)#")
    return try #require(URL(string: text))
  }

  private func open(_ model: ManagedObjectModel, capturing: Bool) throws -> PersistentContainer {
    var problem: (any Error)?
    func print(_ error: any Error) { problem = error }
    // As on the page.
    let description = PersistentStoreDescription()
    description.type = PersistentStore.StoreType.postgreSQL.rawValue
    description.url = URL(string: "postgresql://cairn@/inventory#library")
    description.setOption(NSNumber(value: true), forKey: StoreOptionKey.historyTracking)
    description.url = try here(description.url)
    description.setOption(NSNumber(value: capturing), forKey: StoreOptionKey.postgreSQLCapture)
    let container = PersistentContainer(name: "Library", managedObjectModel: model)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in if let error { print(error) } }
    if let problem { throw problem }
    return container
  }

  private func move(_ container: PersistentContainer, to schema: URL) throws {
    // As on the page.
    let coordinator = container.persistentStoreCoordinator
    if let file = coordinator.persistentStores.first {
      try coordinator.migratePersistentStore(file, to: schema, type: .postgreSQL)
    }
  }

  @Test func whatItShowsIsCompiledHere() throws {
    let own = try String(contentsOfFile: #filePath, encoding: .utf8)
    let lines = Set(own.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
    let shown = Self.blocks("swift").flatMap { $0.split(separator: "\n") }
    #expect(shown.count > 8)
    for line in shown {
      #expect(lines.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
    }
  }

  @Test func whatItSaysToTypeWorks() throws {
    for line in Self.blocks("sh").flatMap({ $0.split(separator: "\n") }) { try run(String(line)) }
    let model = try LibraryModel.make().model
    let container = try open(model, capturing: false)
    let other = try server.connect(database: "inventory", user: "cairn")
    try other.run("SET \(SQLCapture.ownSessions) = 'off'", isKept: false)
    try server.connect().run("CREATE ROLE clerk", isKept: false)
    let blocks = Self.blocks("sql")
    #expect(blocks.count == 3)
    for (index, block) in blocks.enumerated() {
      // What is recorded from there on is asked for above it.
      if index == 1 { _ = try open(model, capturing: true) }
      var found = 0
      for statement in block.split(separator: ";") where statement.contains(where: \.isLetter) {
        found = try other.run(String(statement), isKept: false).count
      }
      if index == 1 { #expect(found == 1) }
    }
    try run("pg_dump --schema=library inventory")
    #expect(Self.page.contains("`pg_dump --schema=library inventory`"))
    try move(container, to: here(URL(string: "postgresql://cairn@/inventory#moved")))
  }
}
