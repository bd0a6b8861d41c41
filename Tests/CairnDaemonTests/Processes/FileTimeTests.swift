// Files whose times are far ahead, as clocks that were wrong leave them.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct FileTimeTests {
  @Test func aDaemonTakesFilesOfAnyTime() async throws {
    let folder = try TemporaryFolder()
    let near = folder.file("near.sqlite")
    let daemon = try Daemon(in: folder, Daemon.Setup(replicas: [("near", near)]))
    func age(_ paths: String...) throws {
      let date = Date(timeIntervalSince1970: 13_569_465_600)
      for path in paths {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
      }
    }
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Section", "name=one").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    try age(daemon.localPath)
    #expect(try daemon.status().local?.records == 1)
    #expect(await daemon.stop() == 0)
    try age(daemon.localPath, near, daemon.configPath)
    try await daemon.start()
    #expect(try await daemon.ctl("insert", "Section", "name=two").code == 0)
    #expect(try await daemon.ctl("wait", "--timeout", "60").code == 0)
    #expect(try daemon.status().local?.records == 2)
    #expect(await daemon.stop() == 0)
  }
}
