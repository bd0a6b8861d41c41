// Where callers who are not trusted with every file may have stores made.
import CairnControl
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

/// Specification: operations.md 4, "path traversal".
@Suite struct StoreFoldersTests {
  private let folder: TemporaryFolder
  private let folders: StoreFolders

  /// The local store and the replica have a folder each, and the configuration allows a third.
  init() throws {
    folder = try TemporaryFolder()
    let path = try #require(Self.resolved(folder.path))
    for name in ["state", "disk", "stores", "stores/inner", "stores2"] {
      try FileManager.default.createDirectory(
        atPath: "\(path)/\(name)", withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o755])
    }
    folders = StoreFolders(
      DaemonConfiguration(
        model: .file("/m.mom"),
        control: ControlSection(socket: "/s", storeFolders: ["\(path)/stores"]),
        local: LocalSection(path: "\(path)/state/local.sqlite"),
        replicas: [ReplicaSection(name: "nas", store: .sqlite(path: "\(path)/disk/nas.sqlite"))]))
  }

  private static func resolved(_ path: String) -> String? {
    realpath(path, nil).map { pointer in
      defer { free(pointer) }
      return String(cString: pointer)
    }
  }

  private var root: String { Self.resolved(folder.path) ?? folder.path }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: "\(root)/\(name)", withDestinationPath: "\(root)/\(target)")
  }

  private func refusal(_ name: String) -> String? {
    do {
      _ = try folders.place(of: "\(root)/\(name)")
      return nil
    } catch { return error.reason }
  }

  @Test(arguments: ["state", "disk", "stores", "stores/inner"])
  func belowTheFoldersOfConfiguredStoresAndThoseThatAreNamedAFileMayLie(_ name: String) throws {
    let path = "\(root)/\(name)/new.sqlite"
    #expect(try folders.place(of: path) == path)
  }

  @Test(arguments: ["", "stores2/", "elsewhere/"])
  func anywhereElseItMayNot(_ name: String) {
    let reason = refusal("\(name)new.sqlite")
    #expect(
      reason?.contains(name == "elsewhere/" ? "not there" : "control.storeFolders") == true,
      "\(reason ?? "allowed")")
  }

  @Test func aLinkLeadsNowhereElse() throws {
    try link("stores/out", to: "stores2")
    #expect(refusal("stores/out/new.sqlite")?.contains("control.storeFolders") == true)
    try link("in", to: "stores/inner")
    #expect(try folders.place(of: "\(root)/in/new.sqlite") == "\(root)/stores/inner/new.sqlite")
    try link("stores/new.sqlite", to: "stores2/new.sqlite")
    #expect(refusal("stores/new.sqlite")?.contains("symbolic link") == true)
  }

  @Test func aFolderOnTheWayThatOthersCouldExchangeIsRefused() throws {
    let inner = "\(root)/stores/inner"
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: inner)
    #expect(refusal("stores/inner/new.sqlite")?.contains("chmod o-w \(inner)") == true)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: inner)
    // Only root can give folders away.
    if getuid() == 0 {
      try #require(chown(inner, 65534, 65534) == 0)
      #expect(refusal("stores/inner/new.sqlite")?.contains("belongs to the user 65534") == true)
    }
  }
}
