// What is found in several files, and what is wrong in several places.
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct ConfigurationFilesTests {
  /// Files of an operator and of a vendor, in a folder of their own.
  private struct Files {
    let folder: TemporaryFolder
    var own: String { folder.file("etc/cairnd.yaml") }
    var vendor: String { folder.file("lib/cairnd.yaml") }

    init(_ texts: [String: String]) throws {
      folder = try TemporaryFolder()
      for (name, text) in texts {
        let url = URL(fileURLWithPath: folder.file(name))
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
      }
    }

    func loader(settings: [String] = []) -> ConfigurationLoader {
      ConfigurationLoader(
        path: own, vendorPath: vendor, settings: settings,
        environment: ["STATE_DIRECTORY": folder.path], groups: { _ in 1 })
    }

    func problems() throws -> [String] {
      let error = #expect(throws: ConfigurationInvalid.self) {
        try ConfigurationCheck.load(loader())
      }
      return try #require(error).problems.map(\.description)
    }
  }

  // MARK: The vendor's files

  @Test func whatTheVendorShipsLiesBelowWhatTheOperatorWrites() throws {
    let files = try Files([
      "lib/cairnd.yaml": "model: /v.mom\nlog: {level: error, format: json}",
      "lib/cairnd.yaml.d/90-late.yaml": "log: {level: debug}\nsync: {retention: 9d}",
      "etc/cairnd.yaml": "log: {level: warning}",
      "etc/cairnd.yaml.d/10-early.yaml": "sync: {retention: 3d}",
    ])
    let loaded = try files.loader().loadSettings()
    #expect(loaded.configuration.model == .file("/v.mom"))
    #expect(loaded.configuration.log == LogSection(level: .warning, format: .json))
    #expect(loaded.configuration.sync.retention == .seconds(3 * 86400))
    let origins = Dictionary(
      uniqueKeysWithValues: loaded.settings.map { ($0.key, $0.origin?.source) })
    #expect(origins["model"] == files.vendor)
    #expect(origins["log.level"] == files.own)
  }

  @Test func aFileOfTheSameNameTakesThePlaceOfTheVendors() throws {
    let files = try Files([
      "lib/cairnd.yaml": "model: /v.mom", "lib/cairnd.yaml.d/10-a.yaml": "log: {level: debug}",
      "etc/cairnd.yaml.d/10-a.yaml": "",
    ])
    #expect(try files.loader().load().log == LogSection())
  }

  @Test func aFileOfTheVendorIsEnough() throws {
    let files = try Files(["lib/cairnd.yaml": "model: /v.mom"])
    #expect(try files.loader().load().model == .file("/v.mom"))
    let nothing = try Files([:])
    #expect(try nothing.problems().contains { $0.contains("\(nothing.own): cannot read the file") })
  }

  @Test func theVendorsFilesAreNoMoreTrustedThanOthers() throws {
    let files = try Files(["lib/cairnd.yaml": "model: /v.mom", "etc/cairnd.yaml": ""])
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o666], ofItemAtPath: files.vendor)
    #expect(try files.problems().contains { $0.contains("chmod go-w \(files.vendor)") })
  }

  @Test(arguments: [
    ("/etc/cairn/cairnd.yaml", "/usr/lib/cairn/cairnd.yaml"),
    ("/etc/cairn-two/cairnd.yaml", "/usr/lib/cairn-two/cairnd.yaml"), ("/srv/cairnd.yaml", nil),
  ])
  func theVendorsPlaceIsThatOfTheOperator(_ path: String, _ vendor: String?) {
    #expect(ConfigurationLoader(path: path, environment: [:]).vendorPath == vendor)
  }

  // MARK: All problems at once

  @Test func problemsOfTheTextAndOfWhatItNamesComeTogether() throws {
    let model = try Files([:]).folder.file("Missing.mom")
    let files = try Files([
      "etc/cairnd.yaml": """
      model: \(model)
      log: {levl: debug}
      sync: {retention: never}
      replicas:
        - {name: a, path: /proc}
        - {name: b.c, path: /dev/null}
      """
    ])
    let problems = try files.problems()
    for part in [
      "1:8: model: the model \(model)", "2:7: log.levl: unknown key", "3:19: sync.retention",
      "5:21: replicas.a.path: /proc is a folder", "6:23: replicas.b.c.path: /dev/null is a device",
    ] {
      #expect(problems.contains { $0.contains(part) }, "\(part) in \(problems)")
    }
    #expect(problems.count == 5, "\(problems)")
  }

  @Test func entitiesThatAreNotThereComeWithMisspeltKeys() throws {
    let files = try Files([
      "etc/cairnd.yaml": """
      model: \(Project.file("Config/demo/DebianPackages.xcdatamodeld"))
      sync: {conflict: {entities: {Packge: deleteWins}}}
      lokal: {}
      """
    ])
    let problems = try files.problems()
    #expect(problems.contains { $0.contains("did you mean \"Package\"?") }, "\(problems)")
    #expect(problems.contains { $0.contains("did you mean \"local\"?") }, "\(problems)")
  }

  @Test func aFileThatIsNotYAMLHidesNoProblemOfAnotherAndMakesNone() throws {
    let files = try Files([
      "etc/cairnd.yaml": "model: [", "etc/cairnd.yaml.d/a.yaml": "logs: {}\nreplicas: [{name: a}]",
    ])
    let problems = try files.problems()
    #expect(problems.contains { $0.contains("not YAML") }, "\(problems)")
    #expect(problems.contains { $0.contains("logs: unknown key") }, "\(problems)")
    // The model and the replica's path may be what cannot be read.
    #expect(problems.count == 2, "\(problems)")
  }

  @Test func aKeyWhoseTextIsWrongIsNotLookedAtAsWell() throws {
    let files = try Files([
      "etc/cairnd.yaml": "model: relative.mom\nlocal: {path: /var/../x}"
    ])
    #expect(try files.problems().count == 2)
  }
}
