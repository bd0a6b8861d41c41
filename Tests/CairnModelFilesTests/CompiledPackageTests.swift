import CairnModel
import CairnModelFiles
import Foundation
import TestSupport
import Testing

/// Packages that Apple's compiler wrote.
@Suite struct CompiledPackageTests {
  @Test(
    "A compiled model has the hashes its package lists",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing),
    arguments: ["SampleModel", "SampleModel3"])
  func hashesOfCompiledModels(name: String) throws {
    let url = try AppleFixtures.url("compiled-models/\(name).momd")
    let info = try versionInfo(of: url)
    let hashes = try #require(
      info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
    let package = try ModelPackage(contentsOf: url)
    #expect(package.form == .compiled)
    #expect(package.versionNames == hashes.keys.sorted())
    for version in package.versionNames {
      let model = try package.model(named: version)
      #expect(model.entityVersionHashesByName == hashes[version])
    }
  }

  @Test(
    "A model's checksum is the one its package lists",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing))
  func checksums() throws {
    let url = try AppleFixtures.url("compiled-models/SampleModel3.momd")
    let checksums = try #require(
      try versionInfo(of: url)["NSManagedObjectModel_VersionChecksums"] as? [String: String])
    let package = try ModelPackage(contentsOf: url)
    for version in package.versionNames {
      #expect(try package.model(named: version).versionChecksum == checksums[version])
    }
  }

  @Test(
    "The source of a model and its compiled form have the same hashes",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing),
    arguments: ["SampleModel", "SampleModel3"])
  func sourceHashesEqualCompiled(name: String) throws {
    let source = try ModelPackage(contentsOf: AppleFixtures.url("models/\(name).xcdatamodeld"))
    let compiled = try ModelPackage(contentsOf: AppleFixtures.url("compiled-models/\(name).momd"))
    #expect(source.currentVersionName == compiled.currentVersionName)
    for version in source.versionNames {
      let first = try source.model(named: version)
      let second = try compiled.model(named: version)
      #expect(first.entityVersionHashesByName == second.entityVersionHashesByName)
    }
  }

  @Test(
    "The source of a model and its compiled form say the same, but for the Swift class of a value",
    .enabled(if: AppleFixtures.folder != nil, AppleFixtures.missing),
    arguments: ["SampleModel", "SampleModel3"])
  func sourceEqualsCompiled(name: String) throws {
    let source = try ModelPackage(contentsOf: AppleFixtures.url("models/\(name).xcdatamodeld"))
    let compiled = try ModelPackage(contentsOf: AppleFixtures.url("compiled-models/\(name).momd"))
    for version in source.versionNames {
      let first = try source.model(named: version)
      // Apple's compiler uses `customClassName` for the generated class only and leaves it out.
      for attribute in first.entities.flatMap(\.declaredProperties) {
        guard let attribute = attribute as? AttributeDescription else { continue }
        if attribute.attributeType == .transformable { attribute.attributeValueClassName = nil }
      }
      #expect(first == (try compiled.model(named: version)))
    }
  }

  private func versionInfo(of package: URL) throws -> [String: Any] {
    let data = try Data(contentsOf: package.appendingPathComponent("VersionInfo.plist"))
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    return try #require(list as? [String: Any])
  }
}
