import CairnPlatform
import Foundation
import TestSupport
import Testing

@testable import CairnDaemon

@Suite struct ConfigurationTests {
  private func load(
    _ text: String, overlays: [String: String] = [:], settings: [String] = [], mode: Int = 0o644
  ) throws -> DaemonConfiguration {
    let folder = try TemporaryFolder()
    let path = folder.file("cairnd.yaml")
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    if !overlays.isEmpty {
      try FileManager.default.createDirectory(
        atPath: path + ".d", withIntermediateDirectories: true)
      for (name, text) in overlays {
        try text.write(toFile: "\(path).d/\(name)", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o644], ofItemAtPath: "\(path).d/\(name)")
      }
    }
    let loader = ConfigurationLoader(
      path: path, settings: settings, environment: ["STATE_DIRECTORY": "/state:/other"],
      groups: { ["cairn": 10, "wheel": 12][$0] })
    return try loader.load()
  }

  private func problems(_ text: String, settings: [String] = [], mode: Int = 0o644) throws
    -> [String]
  {
    let error = try #require(throws: ConfigurationInvalid.self) {
      try load(text, settings: settings, mode: mode)
    }
    return error.problems.map { problem in
      let place = [problem.origin.line, problem.origin.column].compactMap { $0 }
      return (place.map(String.init) + [problem.key, problem.problem, problem.remedy ?? ""])
        .joined(separator: "|")
    }
  }

  @Test func aDatabaseIsNamedByItsConnectionAndItsSchema() throws {
    let configuration = try load(
      """
      model: /m.momd
      replicas:
        - name: hub
          type: postgresql
          connection: host=db1,db2 dbname=inventory target_session_attrs=read-write
          schema: warehouse
          credential: cairn.pg.hub
          captureSQL: true
      """)
    let replica = try #require(configuration.replicas.first)
    guard case .postgreSQL(let section) = replica.store else {
      Issue.record("\(replica)")
      return
    }
    #expect(section.schema == "warehouse" && section.credential == "cairn.pg.hub")
    #expect(section.capturesSQL)
    #expect(
      section.url.absoluteString
        == "postgresql:host=db1,db2%20dbname=inventory%20target_session_attrs=read-write#warehouse")
  }

  @Test(arguments: [
    ("type: postgresql", "|the key is missing|write how to reach the database"),
    ("type: postgresql, path: /x, connection: service=x", "path|unknown key|"),
    ("type: postgresql, connection: 'service=x password=p'", "has a password in it"),
    ("type: postgresql, connection: inventory", "is no place of a PostgreSQL store"),
    ("type: postgresql, connection: service=x, schema: pg_x", "cannot be the schema of a store"),
    ("type: postgresql, connection: service=x, credential: a/b", "is no name of a credential"),
    ("type: sqlite, path: /x, schema: s", "schema|unknown key|"),
  ])
  func whatIsWrongWithADatabaseIsSaid(_ keys: String, _ words: String) throws {
    let found = try problems("model: /m.momd\nreplicas: [{name: hub, \(keys)}]")
    #expect(found.count == 1 && found[0].contains(words), "\(found)")
  }

  @Test func twoReplicasInOneSchemaAreOneTooMany() throws {
    let found = try problems(
      """
      model: /m.momd
      replicas:
        - {name: a, type: postgresql, connection: service=x}
        - {name: b, type: postgresql, connection: service=x, credential: c}
        - {name: c, type: postgresql, connection: service=x, schema: other}
      """)
    #expect(found.count == 1 && found[0].contains("is used by \"a\" already"), "\(found)")
  }

  @Test func aModelIsEnoughAndEverythingElseHasADefault() throws {
    let configuration = try load("model: /m.momd")
    #expect(configuration.model == .file("/m.momd"))
    #expect(configuration.local.path == "/state/local.sqlite")
    #expect(configuration.control.statusGroup == 10)
    #expect(configuration.control.adminGroup == nil)
    #expect(configuration.replicas.isEmpty)
    #expect(configuration.sync == SyncSection())
    #expect(configuration.log == LogSection())
  }

  @Test func allProblemsComeAtOnceWithLineAndKey() throws {
    let found = try problems(
      """
      control: {socket: relative, statusGroup: nobodys}
      replicas:
        - name: a
          type: sqlit
          path: /a
        - path: ${HOME}/b
      sync: {maxClockSkew: 5 minutes}
      lcal: {}
      """)
    #expect(
      found == [
        "1|1|model|the key is missing|name a .xcdatamodeld, .xcdatamodel, .momd, .mom or write from-store",
        "1|19|control.socket|\"relative\" is not an absolute path|begin it with / or ${STATE_DIRECTORY}",
        "1|42|control.statusGroup|this machine has no group \"nobodys\"|create it: groupadd --system nobodys",
        "4|11|replicas.a.type|\"sqlit\" is not possible here|did you mean \"sqlite\"? it is one of sqlite, postgresql",
        "6|5|replicas.[1].name|the key is missing|give each replica a short name",
        "6|11|replicas.[1].path|there is no variable ${HOME}|known are CACHE_DIRECTORY, CONFIGURATION_DIRECTORY, CREDENTIALS_DIRECTORY, LOGS_DIRECTORY, RUNTIME_DIRECTORY, STATE_DIRECTORY",
        "7|22|sync.maxClockSkew|\"5 minutes\" is not a duration|\(DurationText.remedy)",
        "8|1|lcal|unknown key|did you mean \"local\"?",
      ])
  }

  @Test func credentialsHaveAPlaceOnlyWhereSystemdGivesThem() throws {
    let text = "model: ${CREDENTIALS_DIRECTORY}/Model.mom"
    let found = try problems(text)
    #expect(found.count == 1 && found.first?.contains("LoadCredential=ID:FILE") == true, "\(found)")
    let loader = VariableExpansion(environment: ["CREDENTIALS_DIRECTORY": "/run/credentials/c"])
    #expect(
      try loader.expand("${CREDENTIALS_DIRECTORY}/Model.mom") == "/run/credentials/c/Model.mom")
    let empty = VariableExpansion(environment: ["CREDENTIALS_DIRECTORY": ""])
    #expect(throws: VariableExpansion.Failure.self) { try empty.expand(text) }
  }

  @Test func brokenYAMLIsReportedWithItsPlace() throws {
    let found = try problems("model: /m.mom\nlog: {level: info\n")
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("3|") == true || found.first?.hasPrefix("2|") == true)
  }

  @Test(arguments: [
    ("model: /m.mom\nlog: {}\n\nmodel: /n.mom\nsync: {}\n", ["4|model"]),
    ("sync: {}\nmodel: /m.mom\nsync: {}\nmodel: /n.mom\n", ["3|sync", "4|model"]),
    ("replicas:\n  - name: path\n    path: /a\n    path: /b\n", ["4|path"]),
    ("log: {level: info, format: json, level: debug}\n", ["1|level"]),
  ])
  func aKeyThatComesTwiceIsReportedWhereItComesAgain(_ text: String, _ places: [String]) throws {
    let found = try problems(text).filter { $0.contains("comes twice") }
    #expect(
      found
        == places.map { place in
          let (line, key) = (place.prefix { $0 != "|" }, place.drop { $0 != "|" }.dropFirst())
          return "\(line)||the key \(key) comes twice|keep one of the two"
        })
  }

  @Test func laterFilesAndSettingsWin() throws {
    let configuration = try load(
      "model: /m.mom\nreplicas: [{name: a, path: /a}]\nlog: {level: info, format: json}",
      overlays: [
        "20-b.yaml": "log: {level: error}", "10-a.yaml": "log: {level: debug}",
        "30-r.yaml": "replicas: [{name: b, path: /b}, {name: a, direction: push}]",
      ], settings: ["replicas.a.path=/new", "sync.retention=2d"])
    #expect(configuration.log == LogSection(level: .error, format: .json))
    #expect(configuration.replicas.map(\.name) == ["a", "b"])
    #expect(configuration.replicas.first?.store == .sqlite(path: "/new"))
    #expect(configuration.replicas.first?.direction == .push)
    #expect(configuration.sync.retention == .seconds(2 * 86400))
  }

  @Test func twoReplicasCannotShareAFileOrAName() throws {
    let found = try problems(
      "model: /m.mom\nreplicas: [{name: a, path: /a}, {name: a, path: /b}, {name: c, path: /a}]")
    #expect(found.count == 2)
  }

  @Test func aFileThatOthersMayWriteIsNotTrusted() throws {
    let found = try problems("model: /m.mom", mode: 0o666)
    #expect(found.first?.contains("chmod go-w") == true)
  }

  @Test func aFileThatStandsForTooMuchIsRefused() throws {
    let bomb = (1..<12).map { level in
      let members = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ",")
      return "b\(level): &a\(level) [\(members)]"
    }
    let aliases = try problems((["b0: &a0 [x]"] + bomb).joined(separator: "\n"))
    #expect(aliases.contains { $0.contains("more than 10000 values") }, "\(aliases)")
    let large = try problems("model: /m.mom\n#" + String(repeating: "x", count: 1 << 20))
    #expect(large.contains { $0.contains("larger than 1 MiB") }, "\(large)")
  }

  @Test func aMissingFileIsNamed() {
    let error = #expect(throws: ConfigurationInvalid.self) {
      try ConfigurationLoader(path: "/no/such.yaml", environment: [:]).load()
    }
    #expect(error?.description.contains("/no/such.yaml: cannot read the file") == true)
  }

  @Test(arguments: [
    ("250ms", Duration.milliseconds(250)), ("1.5h", .seconds(5400)), ("2w", .seconds(1_209_600)),
  ])
  func durationsHaveUnits(_ text: String, _ wanted: Duration) {
    #expect(DurationText.parse(text) == wanted)
  }

  @Test(arguments: ["", "5", "m", "-1s", "1 s", "1e3s", "1.2.3s"])
  func whatIsNoDurationIsRefused(_ text: String) {
    #expect(DurationText.parse(text) == nil)
  }

  @Test(arguments: ["99999999999d", "1000000000w", "90000d"])
  func aDurationThatIsTooLongIsOutOfRange(_ text: String) throws {
    let found = try problems("model: /m.mom\nsync: {retention: \(text)}")
    #expect(found.count == 1 && found[0].contains("\(text) is out of range"), "\(found)")
  }

  @Test func theExampleIsValidAndNamesEveryKeyThereIs() throws {
    let path = Project.file("Config/cairnd.yaml")
    // A replica that is not there by default stands behind signs that are to be taken away.
    let text = try String(contentsOfFile: path, encoding: .utf8)
      .replacing(#/(?m)^  \#([- ]) /#) { "  \($0.output.1) " }
    let folder = try TemporaryFolder()
    let copy = folder.file("cairnd.yaml")
    try text.write(toFile: copy, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
    let loader = ConfigurationLoader(path: copy, environment: [:], groups: { _ in 1 })
    // Both ways: a key in the example that is not known is a problem, and each known key stands there.
    _ = try loader.load()
    let words = Set(
      text.split(separator: "\n").compactMap { line -> String? in
        let bare = line.drop { $0 == " " || $0 == "-" }
        guard !bare.hasPrefix("#"), let colon = bare.firstIndex(of: ":") else { return nil }
        return String(bare[..<colon])
      })
    let sources = Project.file("Sources/CairnDaemon/Configuration")
    let pattern =
      /(?:text|texts|choice|flag|duration|number|section|list|requiredText|group)\(\s*"(\w+)"/
    var known: Set<String> = ["model"]
    for file in try FileManager.default.subpathsOfDirectory(atPath: sources)
    where file.hasSuffix("Section.swift") || file.hasSuffix("DaemonConfiguration.swift") {
      let source = try String(contentsOfFile: "\(sources)/\(file)", encoding: .utf8)
      known.formUnion(source.matches(of: pattern).map { String($0.1) })
    }
    known.insert("replicas")
    #expect(known.count > 20)
    #expect(words == known)
  }
}
