import Foundation
import TestSupport
import Testing

@testable import CairnPlatform

/// Files in folders that other users may write to.
@Suite struct GuardedFolderTests {
  private func contents(_ name: String, in folder: URL, steps: Int = 1) throws -> String? {
    guard let file = try GuardedFolder(folder.path, steps: steps).file(name) else { return nil }
    let handle = FileHandle(fileDescriptor: file.release(), closeOnDealloc: true)
    return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
  }

  @Test("A file is read and made; one that is not there is none")
  func files() throws {
    let temporary = try TemporaryFolder()
    let folder = temporary.url.appendingPathComponent("own")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    #expect(try contents("a", in: folder) == nil)
    let made = try GuardedFolder(folder.path, steps: 1).makeFile("a")
    let handle = FileHandle(fileDescriptor: made.release(), closeOnDealloc: true)
    try handle.write(contentsOf: Data("text".utf8))
    #expect(try contents("a", in: folder) == "text")
    #expect(throws: PlatformError.self) {
      try GuardedFolder(folder.path, steps: 1).makeFile("a")
    }
  }

  @Test("A link in the place of a file is refused, and so is what is no file")
  func linkedFiles() throws {
    let temporary = try TemporaryFolder()
    let (folder, secret) = (
      temporary.url.appendingPathComponent("own"), temporary.url.appendingPathComponent("secret")
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("secret".utf8).write(to: secret)
    try FileManager.default.createSymbolicLink(
      at: folder.appendingPathComponent("a"), withDestinationURL: secret)
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("b"), withIntermediateDirectories: true)
    for name in ["a", "b"] {
      let error = #expect(throws: PlatformError.self) { try contents(name, in: folder) }
      #expect(error?.description.contains("put the store's own back") == true)
    }
    #expect(throws: PlatformError.self) { try GuardedFolder(folder.path, steps: 1).makeFile("a") }
    #expect(try String(contentsOf: secret, encoding: .utf8) == "secret")
  }

  @Test("A linked folder is followed where the user of the process made the link")
  func linkedFolders() throws {
    let temporary = try TemporaryFolder()
    let moved = temporary.url.appendingPathComponent("disk/data")
    try FileManager.default.createDirectory(at: moved, withIntermediateDirectories: true)
    try Data("text".utf8).write(to: moved.appendingPathComponent("a"))
    let link = temporary.url.appendingPathComponent("own")
    try FileManager.default.createSymbolicLink(
      atPath: link.path, withDestinationPath: "disk")
    #expect(try contents("a", in: link.appendingPathComponent("data"), steps: 2) == "text")
  }

  @Test(
    "Another user's link in the place of a folder is refused",
    .enabled(if: getuid() == 0, "only root can make files another user's"))
  func foreignLinks() throws {
    let temporary = try TemporaryFolder()
    let other = temporary.url.appendingPathComponent("other")
    try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
    let link = temporary.url.appendingPathComponent("own")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: other)
    try #require(lchown(link.path, 65534, 65534) == 0)
    let error = #expect(throws: PlatformError.self) { try GuardedFolder(link.path, steps: 1) }
    #expect(error?.code == .notPermitted)
    // Above the folders that others may write to, links are the administrator's.
    #expect(try GuardedFolder(link.path, steps: 0).file("a") == nil)
  }
}
