// A local store whose log was cut short while the daemon was away: the status says so.
import CairnControl
import Foundation
import TestSupport
import Testing

@Suite struct MissingCommitTests {
  @Test func aLogThatWasCutShortIsInTheStatus() async throws {
    let folder = try TemporaryFolder()
    let daemon = try Daemon(
      in: folder, Daemon.Setup(model: try TroubledFile.model(in: folder)))
    try await daemon.start()
    for number in 0..<4 {
      let outcome = try await daemon.ctl("insert", "Item", "name=nut\(number)", "count=\(number)")
      #expect(outcome.code == 0, "\(outcome.errors)")
    }
    #expect(try daemon.status().problems.isEmpty)
    daemon.kill()
    let log = URL(fileURLWithPath: daemon.localPath + "-wal")
    let bytes = try Data(contentsOf: log)
    try bytes.prefix(bytes.count - 5000).write(to: log)
    try await daemon.start()
    let status = try daemon.status()
    let problem = try #require(status.problems.first)
    #expect(problem.code == "commits-missing" && problem.message.contains(daemon.localPath))
    #expect(status.local?.problem == problem)
    let verified = try await daemon.ctl("verify")
    #expect(verified.code == 1 && verified.output.contains("log was cut short"), "\(verified)")
    let later = try daemon.status()
    #expect(later.problems == [problem] && later.local?.state == .open, "the file is whole")
    #expect(await daemon.stop() == 0)
  }
}
