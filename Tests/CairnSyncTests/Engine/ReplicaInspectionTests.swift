import CairnModel
import CairnStore
import CairnTesting
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CairnSync

/// What can never be a replica is refused when it is added, and nothing is written to it.
struct ReplicaInspectionTests {
  typealias Daemon = SyncEngineTests.Daemon
  private let scratch: Scratch
  init() throws { scratch = try Scratch() }

  private func url(_ name: String) -> URL { scratch.url.appendingPathComponent(name) }

  /// Something that is no replica, with what the refusal says.
  enum Thing: String, CaseIterable, Sendable {
    case folder, pipe, device, socket, text, otherApplication, otherModel
    case hardLinkToLocal, linkToLocal, hardLinkToReplica, copyOfLocal, copyOfReplica
    case hardLinkToAnotherGroup, linkToNothing

    var code: SyncError.Code {
      switch self {
      case .folder, .pipe, .device, .socket, .text, .otherApplication, .linkToNothing: .notAStore
      case .otherModel: .incompatibleModel
      case .hardLinkToLocal, .linkToLocal, .copyOfLocal: .sameStore
      case .hardLinkToReplica, .copyOfReplica, .hardLinkToAnotherGroup: .duplicateReplica
      }
    }

    var words: String {
      switch self {
      case .folder: "is a folder"
      case .pipe, .device, .socket: "a device, a pipe or a socket"
      case .text: "not an SQLite database"
      case .linkToNothing: "a link that leads nowhere"
      case .otherApplication: "another application"
      case .otherModel: "another model"
      case .hardLinkToLocal, .linkToLocal: "the file of the local store under another name"
      case .hardLinkToAnotherGroup: "has 2 names (hard links)"
      case .hardLinkToReplica: "the file of the replica nas under another name"
      case .copyOfLocal: "a copy of the local store"
      case .copyOfReplica: "a copy of the replica nas"
      }
    }
  }

  private func make(_ thing: Thing) async throws -> URL {
    let place = url("thing")
    let manager = FileManager.default
    switch thing {
    case .folder: try manager.createDirectory(at: place, withIntermediateDirectories: false)
    case .pipe: try #require(mkfifo(place.path, 0o600) == 0)
    case .device: return URL(fileURLWithPath: "/dev/null")
    case .socket: try #require(mknod(place.path, S_IFSOCK | 0o600, 0) == 0)
    case .text: try Data("name,count\n".utf8).write(to: place)
    case .otherApplication:
      let queue = try DatabaseQueue(patient: place.path)
      try await queue.write { try $0.execute(sql: "CREATE TABLE note (body TEXT)") }
      try queue.close()
    case .otherModel:
      let other = try Daemon("thing", in: scratch, model: SampleModel.make(.otherType))
      try await other.close()
      return url("thing.sqlite")
    case .hardLinkToLocal: try manager.linkItem(at: url("local.sqlite"), to: place)
    case .linkToLocal:
      try manager.createSymbolicLink(at: place, withDestinationURL: url("local.sqlite"))
    case .hardLinkToReplica: try manager.linkItem(at: url("nas.sqlite"), to: place)
    case .linkToNothing:
      try manager.createSymbolicLink(at: place, withDestinationURL: url("nothing"))
    case .hardLinkToAnotherGroup:
      let other = try Daemon("other", in: scratch)
      try await other.close()
      try manager.linkItem(at: url("other.sqlite"), to: place)
    case .copyOfLocal, .copyOfReplica:
      let source = thing == .copyOfLocal ? "local.sqlite" : "nas.sqlite"
      let queue = try DatabaseQueue(patient: url(source).path)
      try await queue.vacuum(into: place.path)
      try queue.close()
    }
    return place
  }

  /// A folder has a second name, by a link or a mount; the file is not there yet, or is.
  @Test(arguments: [false, true])
  func aFileThatAnotherReplicaIsToMakeIsRefusedUnderAnotherWayToIt(isThere: Bool) async throws {
    let daemon = try Daemon("local", in: scratch)
    let manager = FileManager.default
    try manager.createDirectory(at: url("disk"), withIntermediateDirectories: false)
    try manager.createSymbolicLink(at: url("link"), withDestinationURL: url("disk"))
    try daemon.engine.addReplica(
      ReplicaConfiguration(name: "nas", url: url("disk/nas.sqlite")), isPaused: !isThere)
    if isThere { try await daemon.engine.wait(timeout: .patience) }
    for path in ["link/nas.sqlite", "disk/../link/nas.sqlite"] {
      let other = ReplicaConfiguration(name: "other", url: url(path))
      let refusal = await #expect(throws: SyncError.self) {
        try await daemon.engine.check(other)
      }
      #expect(refusal?.code == .duplicateReplica, "\(String(describing: refusal))")
    }
    for path in ["disk/other.sqlite", "nas.sqlite", "later/nas.sqlite"] {
      try await daemon.engine.check(ReplicaConfiguration(name: "other", url: url(path)))
    }
    await daemon.engine.stop()
  }

  @Test(arguments: Thing.allCases)
  func whatCanNeverBeAReplicaIsRefused(_ thing: Thing) async throws {
    let daemon = try Daemon("local", in: scratch)
    try daemon.insert(["a"])
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url("nas.sqlite")))
    try await daemon.engine.wait(timeout: .patience)
    let place = try await make(thing)
    let isReadable = ![.folder, .pipe, .device, .socket, .linkToNothing].contains(thing)
    let before = isReadable ? try Data(contentsOf: place) : nil
    let replica = ReplicaConfiguration(name: "thing", url: place)
    let refusal = await #expect(throws: SyncError.self) { try await daemon.engine.check(replica) }
    let message = refusal?.message ?? ""
    // The disk that a link leads to may be mounted later.
    let isLasting = thing != .linkToNothing
    #expect(refusal?.code == thing.code, "\(message)")
    #expect(refusal?.recovery == (isLasting ? .person : .wait), "\(message)")
    #expect(message.contains(thing.words) && message.contains(place.path), "\(message)")
    // Named in a configuration it stops its own link, and can be taken out.
    try daemon.engine.addReplica(replica)
    await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(for: ["thing"], timeout: isLasting ? .patience : .seconds(2))
    }
    if [.hardLinkToLocal, .hardLinkToReplica].contains(thing) {
      // With a second name the file itself is left alone, until that is gone.
      let stopped = await #expect(throws: SyncError.self) {
        try await daemon.engine.verify(name: "nas", timeout: .patience)
      }
      #expect(stopped?.message.contains("has 2 names") == true, "\(stopped?.message ?? "")")
      try FileManager.default.removeItem(at: place)
      try daemon.engine.syncNow(names: ["nas"])
    }
    try await daemon.engine.wait(for: ["nas"], timeout: .patience)
    try await daemon.engine.removeReplica(named: "thing")
    // The local store and the replica are written meanwhile.
    if let before, ![.hardLinkToLocal, .linkToLocal, .hardLinkToReplica].contains(thing) {
      #expect(try Data(contentsOf: place) == before)
    }
    try await daemon.close()
  }

  @Test func aCopyOfAReplicaThatIsNotOpenIsRefusedToo() async throws {
    var daemon = try Daemon("local", in: scratch)
    let nas = ReplicaConfiguration(name: "nas", url: url("nas.sqlite"))
    try daemon.engine.addReplica(nas)
    try await daemon.engine.wait(timeout: .patience)
    let place = try await make(.copyOfReplica)
    try await daemon.close()
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(at: url("nas.sqlite" + suffix))
    }
    daemon = try Daemon("local", in: scratch)
    try daemon.engine.addReplica(nas)
    let refusal = await #expect(throws: SyncError.self) {
      try await daemon.engine.check(ReplicaConfiguration(name: "thing", url: place))
    }
    #expect(refusal?.code == .duplicateReplica, "\(refusal?.message ?? "")")
    try await daemon.close()
  }

  @Test func whatMayMendItselfIsAdded() async throws {
    let daemon = try Daemon("local", in: scratch)
    let unmounted = url("mount").appendingPathComponent("nas.sqlite")
    try await daemon.engine.check(ReplicaConfiguration(name: "nas", url: unmounted))
    try await daemon.engine.check(ReplicaConfiguration(name: "new", url: url("new.sqlite")))
    try await daemon.close()
  }

  @Test(arguments: ["cut short", "a page overwritten", "all but the start overwritten"])
  func aDamagedFileIsRefusedAndNothingIsWrittenBesideIt(_ what: String) async throws {
    let other = try Daemon("other", in: scratch)
    try other.insert((0..<500).map { "k\($0)" })
    try await other.close()
    var bytes = try Data(contentsOf: url("other.sqlite"))
    try #require(bytes.count > 65_536)
    let noise = Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })
    switch what {
    case "cut short": bytes = bytes.prefix(bytes.count / 8192 * 4096)
    case "a page overwritten": bytes.replaceSubrange(40_960..<45_056, with: noise)
    default:
      for start in stride(from: 8192, to: bytes.count - 4095, by: 4096) {
        bytes.replaceSubrange(start..<start + 4096, with: noise)
      }
    }
    let folder = url("damaged")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let place = folder.appendingPathComponent("nas.sqlite")
    try bytes.write(to: place)
    let daemon = try Daemon("local", in: scratch)
    let refusal = await #expect(throws: SyncError.self) {
      try await daemon.engine.check(ReplicaConfiguration(name: "nas", url: place))
    }
    let message = refusal?.message ?? ""
    #expect(refusal?.code == .storeDamaged, "\(message)")
    #expect(message.contains(place.path) && message.contains("damaged"), "\(message)")
    func expectUntouched() throws {
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(files == ["nas.sqlite"])
      #expect(try Data(contentsOf: place) == bytes)
    }
    try expectUntouched()
    // One that a configuration names is left alone as well, until a copy is in its place.
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: place))
    let stopped = await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .patience)
    }
    #expect(stopped?.code == .storeDamaged, "\(stopped?.message ?? "")")
    try expectUntouched()
    try Data(contentsOf: url("other.sqlite")).write(to: place, options: .atomic)
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).records == 500)
    try await daemon.close()
  }
}
