import CairnModel
import CairnModelFiles
import Foundation
import TestSupport
import Testing

/// References to versions of a model: chapters 22.6 and II.2 of the specification.
@Suite struct ModelReferenceTests {
  /// Runs the body with a bundle that holds a package of two versions, V1 and V2.
  private func withBundle(
    _ body: (Bundle, _ v1: ManagedObjectModel, _ v2: ManagedObjectModel) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let package = folder.fileURL("Library.momd")
    try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
    let (v1, v2) = (try SampleModels.everything(), try SampleModels.everything())
    v2.entitiesByName["Author"]?.versionHashModifier = "2"
    try CompiledModel.write(v1).write(to: package.appendingPathComponent("V1.mom"))
    try CompiledModel.write(v2).write(to: package.appendingPathComponent("V2.mom"))
    let info = ["NSManagedObjectModel_CurrentVersionName": "V2"]
    try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0)
      .write(to: package.appendingPathComponent("VersionInfo.plist"))
    try body(try #require(Bundle(path: folder.path)), v1, v2)
  }

  @Test("A name stands for a package's current version, or for one of its versions")
  func names() throws {
    try withBundle { bundle, v1, v2 in
      let current = ManagedObjectModelReference(
        name: "Library", in: bundle, versionChecksum: v2.versionChecksum)
      let currentModel = try current.resolution()
      #expect(currentModel == v2)
      let old = ManagedObjectModelReference(
        name: "V1", in: bundle, versionChecksum: v1.versionChecksum)
      #expect(old.resolvedModel == v1)
      #expect(old.resolvedModel === old.resolvedModel, "it is read once")
    }
  }

  @Test("Entity hashes find their version")
  func hashes() throws {
    try withBundle { bundle, v1, _ in
      let reference = ManagedObjectModelReference(
        entityVersionHashes: v1.entityVersionHashesByName, in: bundle,
        versionChecksum: v1.versionChecksum)
      let referenceModel = try reference.resolution()
      #expect(referenceModel == v1)
    }
  }

  @Test("A file and a model at hand are taken as they are")
  func direct() throws {
    try withBundle { bundle, v1, _ in
      let url = bundle.bundleURL.appendingPathComponent("Library.momd/V1.mom")
      let file = ManagedObjectModelReference(fileURL: url, versionChecksum: v1.versionChecksum)
      let fileModel = try file.resolution()
      #expect(fileModel == v1)
      let model = ManagedObjectModelReference(model: v1, versionChecksum: v1.versionChecksum)
      #expect(model.resolvedModel === v1)
    }
  }

  @Test("Another checksum, and a model that is not there, are errors")
  func errors() throws {
    try withBundle { bundle, v1, v2 in
      let changed = ManagedObjectModelReference(
        name: "V1", in: bundle, versionChecksum: v2.versionChecksum)
      #expect(throws: ModelFileError.self) { try changed.resolution() }
      let missing = ManagedObjectModelReference(
        name: "V3", in: bundle, versionChecksum: v1.versionChecksum)
      #expect(throws: ModelFileError.self) { try missing.resolution() }
    }
  }
}
