// The unit files, as systemd itself judges and runs them.
import CairnPlatform
import Foundation
import TestSupport
import Testing

@Suite struct UnitFileTests {
  private static func has(_ program: String) -> Bool {
    ["/usr/bin", "/bin", "/usr/sbin"].contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
    }
  }

  @Test(.enabled(if: has("systemd-analyze"), "systemd-analyze is not installed"))
  func theServiceIsHardened() async throws {
    let root = try TemporaryFolder()
    let units = root.file("etc/systemd/system")
    try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: Project.file("systemd/cairnd.service"), toPath: "\(units)/cairnd.service")
    let outcome = try await run(
      "/usr/bin/systemd-analyze",
      ["security", "--offline=true", "--root=\(root.path)", "--threshold=12", "cairnd.service"])
    #expect(outcome.code == 0, "\(outcome.output.suffix(300))")
  }

  /// The scripts of the box, with what each checks at least; fewer checks mean that it ended early.
  ///
  /// `make check-units` runs all, or those in `CAIRN_UNITS`; the others of a run do a sample.
  private static var scripts: [(script: String, checks: Int)] {
    let all = [
      ("unit.sh", 116), ("security.sh", 105), ("drop-ins.sh", 47), ("long-work.sh", 20),
      ("page.sh", 23), ("handover.sh", 73), ("guide.sh", 105), ("bars.sh", 20), ("watchdog.sh", 27),
    ]
    switch wanted {
    case nil: return Array(all.prefix(2))
    case ["all"]: return all
    case let names?: return all.filter { names.contains(String($0.0.dropLast(3))) }
    }
  }

  /// Names of scripts without their ends, or "all".
  private static var wanted: [String]? {
    ProcessInfo.processInfo.environment["CAIRN_UNITS"].map {
      $0.split(separator: " ").map(String.init)
    }
  }

  @Test func everyScriptThatIsAskedForIsThere() {
    if let wanted = Self.wanted, wanted != ["all"] { #expect(Self.scripts.count == wanted.count) }
    #expect(!Self.scripts.isEmpty)
  }

  @Test(
    .enabled(
      if: HostIdentity.effectiveUser == 0 && has("systemd-analyze") && has("unshare")
        && FileManager.default.fileExists(atPath: "/lib/systemd/systemd"),
      "a private systemd needs root, unshare and systemd"),
    .timeLimit(.minutes(10)),
    arguments: scripts)
  func theUnitsDoWhatOperatorsRelyOnUnderARealSystemd(script: String, checks: Int) async throws {
    let products = try #require(Project.products, "build the products first")
    let outcome = try await run(
      "/bin/bash",
      [
        Project.file("Tests/sysbox/sysbox.sh"), "-b", "\(products.path):opt/cairn-bin", "-b",
        "\(Project.file("")):opt/cairn-src", "--", "bash",
        "/opt/cairn-src/Tests/sysbox/\(script)", "/opt/cairn-bin", "/opt/cairn-src",
      ])
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    let passed = outcome.output.split(separator: "\n").count { $0.hasPrefix("ok ") }
    #expect(passed >= checks, "\(outcome.output)")
  }
}
