import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@Suite struct SocketTests {
  @Test func theSocketFileHasItsModeFromTheStartAndGoesWithTheListener() throws {
    let folder = try TemporaryFolder()
    let listener = try UnixListener(path: folder.file("s"), mode: 0o660)
    #expect(try FileFacts(path: folder.file("s")).mode == 0o660)
    listener.remove()
    #expect(!FileManager.default.fileExists(atPath: folder.file("s")))
  }

  @Test func aSocketThatAnswersIsNotReplaced() throws {
    let folder = try TemporaryFolder()
    let first = try UnixListener(path: folder.file("s"))
    let error = #expect(throws: PlatformError.self) { try UnixListener(path: folder.file("s")) }
    #expect(error?.code == .inUse)
    first.descriptor.close()
    // Its process is gone now, as far as the kernel can tell: the file is stale.
    let second = try UnixListener(path: folder.file("s"))
    second.remove()
  }

  @Test func aFileThatIsNoSocketIsLeftAlone() throws {
    let folder = try TemporaryFolder()
    try Data("x".utf8).write(to: URL(fileURLWithPath: folder.file("s")))
    let error = #expect(throws: PlatformError.self) { try UnixListener(path: folder.file("s")) }
    #expect(error?.code == .exists)
    #expect(FileManager.default.fileExists(atPath: folder.file("s")))
  }

  @Test func thePeerIsThisProcessWithAllItsGroups() throws {
    let folder = try TemporaryFolder()
    let listener = try UnixListener(path: folder.file("s"))
    let client = try UnixStream(connectingTo: folder.file("s"))
    let server = try #require(try listener.accept(timeout: .patience))
    #expect(try server.peerCredentials() == PeerCredentials.own)
    try client.write(Array("hello".utf8))
    #expect(try server.read(timeout: .patience) == Array("hello".utf8))
    client.close()
    #expect(try server.read(timeout: .patience).isEmpty)
  }

  @Test func readingGivesUpWhenTheTimeIsOver() throws {
    let folder = try TemporaryFolder()
    let listener = try UnixListener(path: folder.file("s"))
    let client = try UnixStream(connectingTo: folder.file("s"))
    let error = #expect(throws: PlatformError.self) {
      try client.read(timeout: .milliseconds(20))
    }
    #expect(error?.code == .timedOut)
    listener.remove()
  }

  @Test func aPathTooLongForASocketIsRefused() {
    let error = #expect(throws: PlatformError.self) {
      try UnixStream(connectingTo: "/" + String(repeating: "x", count: 200))
    }
    #expect(error?.code == .nameTooLong)
  }

  @Test func unknownGroupsAreNilAndRootIsZero() throws {
    #expect(try AccountLookup.group(named: "no-such-group-here") == nil)
    #expect(try AccountLookup.group(named: "root") == 0)
  }

  @Test func aSocketThatWasHandedInIsKnownByItsFile() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("s")
    let listener = try UnixListener(path: path)
    #expect(listener.descriptor.boundPath == path)
    #expect(try UnixListener(adopting: listener.descriptor, lyingAt: folder.file("t")) == nil)
    let adopted = try #require(try UnixListener(adopting: listener.descriptor, lyingAt: path))
    #expect(adopted.path == path)
    adopted.remove()
    #expect(
      try UnixListener(adopting: listener.descriptor, lyingAt: path) == nil, "its file is gone")
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(try UnixListener(adopting: listener.descriptor, lyingAt: path) == nil, "no socket")
    let other = OwnedDescriptor(adopting: open("/dev/null", O_RDONLY))
    #expect(other.boundPath == nil)
  }
}
