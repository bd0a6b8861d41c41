// Rows whose values are long, through the control socket.
import CairnControl
import CairnTesting
import Foundation
import Testing

@testable import CairnDaemon

@Suite struct LongRowTests {
  @Test func rowsOfMegabytesAreReadAndExportedAndOneThatNoAnswerHoldsIsNamed() async throws {
    let folder = try TemporaryFolder()
    let package = try WrittenPackage(
      folder.file("Pictures.xcdatamodeld"), current: "One",
      [
        (
          "One",
          "<entity name=\"Picture\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"
            + "<attribute name=\"data\" optional=\"YES\" attributeType=\"String\"/></entity>"
        )
      ])
    let daemon = try Daemon(in: folder, .init(model: package.path))
    try await daemon.start()
    let application = try ApplicationStore(
      model: "\(package.path)/One.xcdatamodel", path: daemon.localPath)
    func insert(_ name: String, _ bytes: Int) throws {
      try application.insert(
        "Picture", ["name": name, "data": String(repeating: "x", count: bytes)])
    }
    // 40 MB in all, more than an answer holds.
    for index in 0..<40 { try insert("p\(index)", 1_000_000) }
    let fetched = try await daemon.ctl("fetch", "Picture", "--format", "jsonl")
    #expect(fetched.code == 0, "\(fetched.errors)")
    #expect(fetched.output.split(separator: "\n").count == 40)
    let exported = try await daemon.ctl("export")
    #expect(exported.code == 0, "\(exported.errors)")
    #expect(exported.output.split(separator: "\n").count == 40)
    try insert("huge", 17 << 20)
    for arguments in [["fetch", "Picture", "--format", "jsonl"], ["export"]] {
      let refused = try await daemon.ctl(arguments)
      #expect(refused.code == 1, "\(arguments)")
      #expect(refused.errors.contains("for Picture "), "\(refused.errors.prefix(500))")
      #expect(refused.errors.contains("alone; leave its long values out"))
    }
    let names = try await daemon.ctl("fetch", "Picture", "--properties", "name")
    #expect(names.code == 0 && names.output.contains("huge"), "\(names.errors)")
    #expect(await daemon.stop() == 0)
  }
}
