// What goes into the programs beside the sources of this repository.

import Foundation
import TestSupport
import Testing

@Suite struct SuppliedSourcesTests {
  private struct Resolved: Decodable {
    struct Pin: Decodable {
      struct State: Decodable {
        let revision: String
        let version: String?
      }
      let identity: String
      let location: String
      let state: State
    }
    let pins: [Pin]
  }

  @Test func everyPackageIsOneRevision() throws {
    let manifest = try #require(SourceTree.text(of: "Package.swift"))
    let text = try #require(SourceTree.text(of: "debian/Package.resolved"))
    let pins = try JSONDecoder().decode(Resolved.self, from: Data(text.utf8)).pins
    #expect(Set(pins.map(\.identity)).count == pins.count)
    for pin in pins {
      #expect(pin.state.revision.wholeMatch(of: /[0-9a-f]{40}/) != nil, "\(pin.identity)")
      #expect(pin.state.version != nil, "\(pin.identity): a branch, which moves")
      #expect(pin.location.hasPrefix("https://"), "\(pin.identity)")
    }
    let pinned = Set(pins.map { $0.location.replacing(/\.git$/, with: "") })
    let named = manifest.matches(of: /url: "([^"]+)"/).map { String($0.output.1) }
    #expect(named.count > 5)
    for url in named { #expect(pinned.contains(url.replacing(/\.git$/, with: "")), "\(url)") }
  }

  /// As SPDX has it, as far as it is needed.
  private struct BillOfMaterials: Decodable {
    struct Package: Decodable {
      let name: String
      let versionInfo: String
      let downloadLocation: String
    }
    struct Relationship: Decodable {
      let relatedSpdxElement: String
    }
    let spdxVersion: String
    let packages: [Package]
    let relationships: [Relationship]
  }

  @Test func thePackageListsThemWithTheirRevisions() throws {
    let text = try #require(SourceTree.text(of: "debian/Package.resolved"))
    let pins = try JSONDecoder().decode(Resolved.self, from: Data(text.utf8)).pins
    let awk = ChildProcess()
    awk.executableURL = URL(fileURLWithPath: "/usr/bin/awk")
    awk.arguments = [
      "-f", SourceTree.root.appendingPathComponent("Config/sbom.awk").path, "-v", "version=1.2.3",
      "-v", "created=2026-01-01T00:00:00Z",
      SourceTree.root.appendingPathComponent("debian/Package.resolved").path,
    ]
    let output = Pipe()
    awk.standardOutput = output
    try awk.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    awk.waitUntilExit()
    let bill = try JSONDecoder().decode(BillOfMaterials.self, from: data)
    #expect(bill.spdxVersion == "SPDX-2.3")
    #expect(bill.packages.map(\.name) == ["cairn"] + pins.map(\.identity))
    for (package, pin) in zip(bill.packages.dropFirst(), pins) {
      #expect(package.versionInfo == pin.state.version)
      #expect(package.downloadLocation == "git+\(pin.location)@\(pin.state.revision)")
    }
    #expect(bill.relationships.count == pins.count + 1)
  }

  @Test func thePackageIsBuiltOfTheseAlone() throws {
    let rules = try #require(SourceTree.text(of: "debian/rules"))
    let flags = rules.split(separator: "\n").filter { $0.contains("FLAGS") || $0.hasPrefix("  -") }
    let text = flags.joined(separator: " ")
    #expect(rules.contains("cp debian/Package.resolved Package.resolved"))
    #expect(text.contains("--only-use-versions-from-resolved-file"), "a build takes what is pinned")
    #expect(text.contains("-file-prefix-map") && text.contains("-ffile-prefix-map="))
    for word in ["curl", "wget", "git clone"] {
      #expect(!rules.contains(word), "sources that nothing pins")
    }
  }
}
