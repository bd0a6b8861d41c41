// Where a store is, as text, and which secrets must not show.

import CairnStore
import CairnTesting
import Foundation
import TestServers
import TestSupport
import Testing

@testable import CairnPostgreSQL

// libpq reads the texts, and comes with the server's package.
@Suite(.needsServer) struct ConnectionSettingsTests {
  static let canary = "canary-b7Z"

  private func parameters(
    _ text: String, _ environment: [String: String] = [:]
  ) throws -> [String: String] {
    let settings = try ConnectionParameters(text, environment: environment)
    return Dictionary(uniqueKeysWithValues: settings.parameters.map { ($0.keyword, $0.value) })
  }

  @Test func allOfLibpqsSettingsPassThrough() throws {
    let url = try parameters(
      "postgresql://me@db1:5433,db2/inventory?target_session_attrs=read-write&sslmode=verify-full")
    #expect(url["host"] == "db1,db2")
    #expect(url["port"]?.hasPrefix("5433,") == true)
    #expect(url["dbname"] == "inventory" && url["user"] == "me")
    #expect(url["target_session_attrs"] == "read-write" && url["sslmode"] == "verify-full")
    let words = try parameters("service=inventory options='-c geqo=off'")
    #expect(words["service"] == "inventory" && words["options"] == "-c geqo=off")
  }

  @Test func aNetworkThatIsGoneIsNoticedUnlessTheTextSaysOtherwise() throws {
    let plain = try parameters("host=db1")
    #expect(plain["connect_timeout"] == "10" && plain["tcp_user_timeout"] == "60000")
    #expect(plain["keepalives_idle"] == "30")
    #expect(try parameters("host=db1 connect_timeout=3")["connect_timeout"] == "3")
    // libpq's zero waits for ever.
    #expect(try parameters("host=db1 connect_timeout=0")["connect_timeout"] == "10")
    #expect(try parameters("host=db1", ["PGCONNECT_TIMEOUT": "4"])["connect_timeout"] == nil)
  }

  @Test func whatIsNeitherURLNorSettingsIsRefusedWithoutRepeatingIt() throws {
    for text in [
      "mysql://\(Self.canary)@db1/x", "postgresql://me:\(Self.canary)%ZZ@db1/x",
      "password=\(Self.canary) host", "host=db1\0 password=\(Self.canary)",
      "postgresql://db1/x?colour=\(Self.canary)",
    ] {
      let error = #expect(throws: CoreDataError.self) { try ConnectionParameters(text) }
      #expect(error?.code == .persistentStoreOpen)
      #expect(error.map { !"\($0)".contains(Self.canary) } == true, "\(text)")
    }
  }

  @Test func noDescriptionShowsASecret() throws {
    for text in [
      "postgresql://me:\(Self.canary)@db1/inventory", "host=db1 password=\(Self.canary)",
      "host=db1 sslpassword=\(Self.canary)",
      "host=db1 dbname=\(Self.canary) password=\(Self.canary)",
    ] {
      let settings = try ConnectionParameters(text, environment: [:])
      var dumped = ""
      dump(settings, to: &dumped)
      for shown in ["\(settings)", String(reflecting: settings), dumped] {
        #expect(!shown.contains(Self.canary))
      }
      #expect(settings.redacted("it said \(Self.canary)!") == "it said ***!")
    }
  }

  @Test func aCredentialOfSystemdHoldsThePassword() throws {
    let folder = try TemporaryFolder()
    let environment = ["CREDENTIALS_DIRECTORY": folder.path]
    #expect(try parameters("host=db1", environment)["password"] == nil)
    try "\(Self.canary)\n".write(
      toFile: folder.file("postgresql-password"), atomically: false, encoding: .utf8)
    #expect(try parameters("host=db1", environment)["password"] == Self.canary)
    // What the text says comes first.
    #expect(try parameters("host=db1 password=x", environment)["password"] == "x")
    try "other".write(toFile: folder.file("hub"), atomically: false, encoding: .utf8)
    let named = try ConnectionParameters("host=db1", credential: "hub", environment: environment)
    #expect(named.parameters.contains { $0.keyword == "password" && $0.value == "other" })
    let shown = "\(try ConnectionParameters("dbname=\(Self.canary)", environment: environment))"
    #expect(!shown.contains(Self.canary))
  }

  @Test func aCredentialThatIsNoneIsNamed() throws {
    let folder = try TemporaryFolder()
    let environment = ["CREDENTIALS_DIRECTORY": folder.path]
    for name in ["../shadow", "", "..", "missing"] {
      let error = #expect(throws: CoreDataError.self) {
        try ConnectionParameters("host=db1", credential: name, environment: environment)
      }
      #expect(error?.message.contains("LoadCredential") == true)
    }
    try Data([0xff, 0xfe]).write(to: folder.fileURL("postgresql-password"))
    let error = #expect(throws: CoreDataError.self) {
      try ConnectionParameters("host=db1", environment: environment)
    }
    #expect(error?.message.contains(folder.file("postgresql-password")) == true)
  }
}

@Suite struct LibPQTests {
  @Test func aMissingLibraryIsNamedWithWhatToInstall() throws {
    let error = #expect(throws: CoreDataError.self) { try LibPQ(loading: "libpq-not-there.so.5") }
    #expect(error?.code == .persistentStoreOpen)
    #expect(error?.message.contains("apt-get install libpq5") == true)
    #expect(error?.message.contains("libpq-not-there.so.5") == true)
  }

  @Test func aLibraryWithoutPipelinesIsTooOld() throws {
    // The C library has no PQlibVersion, as versions of libpq before 9.1 have not.
    let error = #expect(throws: CoreDataError.self) { try LibPQ(loading: "libc.so.6") }
    #expect(error?.message.contains("older than version 14") == true)
  }
}
