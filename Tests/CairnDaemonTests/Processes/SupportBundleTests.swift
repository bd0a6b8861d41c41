// What helps to find a fault, in one file, with the real daemon.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct SupportBundleTests {
  @Test func theFileHoldsWhatIsNeededAndNoValues() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(replicas: [("near", folder.file("near.sqlite"))]))
    try await daemon.start()
    try await daemon.ctl("insert", "Section", "name=a-secret-value")
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    let file = folder.file("bundle.tar")
    let made = try await daemon.ctl("support-bundle", file)
    #expect(made.code == 0, "\(made.errors)")
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o600)
    let listed = try await run("/usr/bin/tar", ["-tf", file])
    #expect(listed.code == 0, "\(listed.errors)")
    let names = listed.output.split(separator: "\n").compactMap {
      $0.split(separator: "/").last.map(String.init)
    }
    let wanted = [
      "status.json", "configuration.json", "metrics.txt", "log.txt", "versions.txt", "model.json",
      "stores.json", "cairnctl.txt",
    ]
    #expect(names.sorted() == wanted.sorted())
    for name in wanted { #expect(made.output.contains("  \(name), "), "\(made.output)") }
    let text = try await run("/usr/bin/tar", ["-xOf", file]).output
    for word in ["\"near\"", "cairn_state", "event=started", "\"entities\"", "sync.retention"] {
      #expect(text.contains(word), "\(word)")
    }
    #expect(!text.contains("a-secret-value"))
    // Nothing is written over.
    let before = try Data(contentsOf: URL(fileURLWithPath: file))
    let again = try await daemon.ctl("support-bundle", file)
    #expect(again.code == 1 && again.errors.contains("is there already"), "\(again.errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
    #expect(await daemon.stop() == 0)
  }

  @Test func aDaemonThatIsDegradedGivesWhatItHas() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(in: folder)
    try Data("rubbish".utf8).write(to: URL(fileURLWithPath: daemon.localPath))
    try await daemon.start()
    let made = try await daemon.ctl("support-bundle", "--json", folder.file("b.tar"))
    #expect(made.code == 0 && made.output.contains("log.txt"), "\(made.errors)")
    #expect(
      try await run("/usr/bin/tar", ["-xOf", folder.file("b.tar")]).output.contains("degraded"))
    #expect(await daemon.stop() == 0)
  }
}
