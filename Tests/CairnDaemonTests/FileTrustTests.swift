// Which files and folders can be changed by users who have no role.
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct FileTrustTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("Model.xcdatamodeld/One.xcdatamodel"), withIntermediateDirectories: true)
    try Data("x".utf8).write(to: URL(fileURLWithPath: folder.file(contents)))
    for name in ["Model.xcdatamodeld", "Model.xcdatamodeld/One.xcdatamodel", contents] {
      try set(0o755, name)
    }
  }

  private let contents = "Model.xcdatamodeld/One.xcdatamodel/contents"

  private func set(_ mode: Int, _ name: String) throws {
    try FileManager.default.setAttributes(
      [.posixPermissions: mode], ofItemAtPath: folder.file(name))
  }

  @Test(arguments: [
    "Model.xcdatamodeld", "Model.xcdatamodeld/One.xcdatamodel",
    "Model.xcdatamodeld/One.xcdatamodel/contents",
  ])
  func aBundleIsTrustedIfAllOfItIs(_ name: String) throws {
    let bundle = folder.file("Model.xcdatamodeld")
    #expect(FileTrust.problem(ofContents: bundle, keepingOut: .all) == nil)
    try set(0o757, name)
    #expect(
      FileTrust.problem(ofContents: bundle, keepingOut: .world)
        == "others may write to \(folder.file(name)) (mode 757); chmod o-w \(folder.file(name))")
  }

  @Test func theGroupCountsWhereItIsToBeKeptOut() throws {
    let path = folder.file("Model.xcdatamodeld")
    try set(0o775, "Model.xcdatamodeld")
    #expect(FileTrust.problem(ofFolder: path, keepingOut: .world) == nil)
    #expect(
      FileTrust.problem(ofFolder: path, keepingOut: .all)
        == "others may write to \(path) (mode 775); chmod go-w \(path)")
  }

  /// Giving files away takes root.
  @Test(.enabled(if: geteuid() == 0, "takes root")) func whatAStrangerOwnsIsNotTrusted() throws {
    let bundle = folder.file("Model.xcdatamodeld")
    let owned = folder.file("Model.xcdatamodeld/One.xcdatamodel")
    try give(owned, to: 1234)
    let problem = "\(owned) belongs to the user 1234, who can change it; chown root \(owned)"
    #expect(FileTrust.problem(ofContents: bundle, keepingOut: .world) == problem)
    #expect(FileTrust.problem(ofFolder: owned, keepingOut: .world) == problem)
  }

  /// A program's own folder, which it shares with the daemon by a group.
  @Test(.enabled(if: geteuid() == 0, "takes root"))
  func theOwnerOfAStoreMayOwnItsFolder() throws {
    let owned = folder.file("Model.xcdatamodeld/One.xcdatamodel")
    try give(owned, to: 1234)
    #expect(FileTrust.problem(ofFolder: owned, keepingOut: .world, of: "\(owned)/none") != nil)
    try give(folder.file(contents), to: 1234)
    #expect(
      FileTrust.problem(ofFolder: owned, keepingOut: .world, of: folder.file(contents)) == nil)
  }

  private func give(_ path: String, to user: Int) throws {
    try FileManager.default.setAttributes([.ownerAccountID: user], ofItemAtPath: path)
  }

  @Test func aFolderWhereOthersCanOnlyAddFilesIsTrusted() throws {
    try set(0o1777, "Model.xcdatamodeld")
    #expect(
      FileTrust.problem(ofFolder: folder.file("Model.xcdatamodeld"), keepingOut: .all) == nil)
  }

  @Test func whatIsNotThereIsNobodysToChange() {
    #expect(FileTrust.problem(ofFolder: folder.file("none"), keepingOut: .all) == nil)
    #expect(FileTrust.problem(ofContents: folder.file("none"), keepingOut: .all) == nil)
  }
}
