// Models that sources ask bundles for as Xcode's builds compile them, found as SwiftPM copies them.
import CairnModel
import CairnModelFiles
import Foundation
import TestSupport
import Testing

@Suite struct ModelResourcesTests {
  /// A bundle with `Shop.xcdatamodeld`, of two versions.
  private func withBundle(_ body: (Bundle, URL) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let package = folder.fileURL("Shop.xcdatamodeld")
    for (version, entity) in [("Shop", "Item"), ("Shop 2", "Article")] {
      let version = package.appendingPathComponent("\(version).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data(
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="\(entity)" representedClassName="\(entity)" syncable="YES"/>
        </model>
        """.utf8
      ).write(to: version.appendingPathComponent("contents"))
    }
    try Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
        <key>_XCCurrentVersionName</key><string>Shop 2.xcdatamodel</string>
      </dict></plist>
      """.utf8
    ).write(to: package.appendingPathComponent(".xccurrentversion"))
    try Data("text".utf8).write(to: folder.fileURL("Shop.txt"))
    try body(try #require(Bundle(path: folder.path)), folder.url)
  }

  /// The names of the entities of the model there; nil when there is none.
  private func entities(_ url: URL?) -> [String]? {
    url.flatMap { ManagedObjectModel(contentsOf: $0) }?.entities.compactMap(\.name)
  }

  @Test func aCompiledPackageIsAnsweredWithItsSource() throws {
    try withBundle { bundle, _ in
      let url = ModelResources.url(forResource: "Shop", withExtension: "momd", in: bundle)
      #expect(url?.lastPathComponent == "Shop.xcdatamodeld")
      #expect(entities(url) == ["Article"])
      #expect(ModelResources.url(forResource: "Shop.momd", withExtension: nil, in: bundle) == url)
      #expect(ModelResources.url(forResource: "Shop", withExtension: ".momd", in: bundle) == url)
      #expect(ModelResources.url(forResource: nil, withExtension: "momd", in: bundle) == url)
      #expect(ModelResources.urls(forResourcesWithExtension: "momd", in: bundle) == [url])
    }
  }

  @Test func aCompiledVersionIsAnsweredWithItsSource() throws {
    try withBundle { bundle, _ in
      let url = ModelResources.url(
        forResource: "Shop", withExtension: "mom", subdirectory: "Shop.momd", in: bundle)
      #expect(entities(url) == ["Item"])
      let names = ModelResources.urls(
        forResourcesWithExtension: "mom", subdirectory: "Shop.momd", in: bundle
      ).map(\.lastPathComponent)
      #expect(names == ["Shop 2.xcdatamodel", "Shop.xcdatamodel"])
    }
  }

  @Test func pathsToCompiledModelsAreReadFromTheirSources() throws {
    try withBundle { _, folder in
      let package = folder.appendingPathComponent("Shop.momd")
      #expect(entities(package) == ["Article"])
      #expect(entities(package.appendingPathComponent("Shop.mom")) == ["Item"])
      #expect(entities(package.appendingPathComponent("Shop 3.mom")) == nil)
    }
  }

  @Test func whatIsNoModelIsFoundAsEver() throws {
    try withBundle { bundle, _ in
      let text = ModelResources.url(forResource: "Shop", withExtension: "txt", in: bundle)
      #expect(text == bundle.url(forResource: "Shop", withExtension: "txt") && text != nil)
      #expect(ModelResources.url(forResource: "Shop", withExtension: "md", in: bundle) == nil)
      #expect(ModelResources.url(forResource: "Other", withExtension: "momd", in: bundle) == nil)
      #expect(ModelResources.urls(forResourcesWithExtension: "txt", in: bundle).count == 1)
    }
  }
}
