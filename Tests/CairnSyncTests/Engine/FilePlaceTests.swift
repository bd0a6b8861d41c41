import CairnSQLite
import CairnStore
import CairnTesting
import Foundation
import Synchronization
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "The file under the name".
struct FilePlaceTests {
  private func files(_ url: URL) -> [String] {
    ["", "-wal", "-shm"].map { url.path + $0 }.filter(FileManager.default.fileExists(atPath:))
  }

  private func move(_ url: URL, to name: String) throws -> URL {
    let target = url.deletingLastPathComponent().appendingPathComponent(name)
    for file in files(url) {
      let suffix = file.dropFirst(url.path.count)
      try FileManager.default.moveItem(atPath: file, toPath: target.path + suffix)
    }
    return target
  }

  @Test func aReplicaThatIsRemovedIsReportedAndNotWrittenTo() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    for file in files(url) { try FileManager.default.removeItem(atPath: file) }
    try daemon.insert(["late"])
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .patience)
    }
    // Whether a write or the look at its name noticed first.
    #expect(error?.message.contains("was removed") == true, "\(error?.message ?? "")")
    #expect(files(url) == [])
    let status = try #require(try daemon.engine.status().replicas.first)
    #expect(status.lastError?.code == .storeUnavailable)
    // As a new one it is made anew.
    try await daemon.engine.removeReplica(named: "nas")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).records == 2)
    await daemon.engine.stop()
  }

  @Test func aReplicaThatComesBackGoesOn() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    let aside = try move(url, to: "aside.sqlite")
    try daemon.insert(["late"])
    // Which does not wait for a replica that cannot be reached.
    await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .patience)
    }
    _ = try move(aside, to: "nas.sqlite")
    try await daemon.engine.wait(timeout: .patience)
    let report = try await daemon.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 2)
    await daemon.engine.stop()
  }

  @Test func anotherStoreUnderTheNameIsNotTakenForTheReplica() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    let other = try SyncEngineTests.Daemon("other", in: scratch)
    try other.insert(["foreign"])
    try await other.close()
    for file in files(url) { try FileManager.default.removeItem(atPath: file) }
    _ = try move(scratch.url.appendingPathComponent("other.sqlite"), to: "nas.sqlite")
    try daemon.insert(["late"])
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .anotherStore)
    #expect(try daemon.site.picture().count == 2)
    await daemon.engine.stop()
  }

  @Test func anotherStoreUnderTheNameIsRefusedAfterARestartToo() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    try await daemon.close()
    let other = try SyncEngineTests.Daemon("other", in: scratch)
    try other.insert(["foreign"])
    try await other.close()
    for file in files(url) { try FileManager.default.removeItem(atPath: file) }
    _ = try move(scratch.url.appendingPathComponent("other.sqlite"), to: "nas.sqlite")
    let next = try SyncEngineTests.Daemon("local", in: scratch)
    let replica = ReplicaConfiguration(name: "nas", url: url)
    try next.engine.addReplica(replica)
    let error = await #expect(throws: SyncError.self) {
      try await next.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .anotherStore)
    #expect(try next.site.picture().count == 1)
    // The way out that the message names: a person joins the two.
    try await next.engine.removeReplica(named: "nas")
    try next.engine.addReplica(replica)
    try await next.engine.wait(timeout: .patience)
    #expect(try next.site.picture().count == 2)
    try await next.close()
  }

  /// Its disk is not mounted: a new store in its place would be filled and never seen again.
  @Test func aFileThatIsMissingWithItsFolderAfterARestartIsNotMadeAnewUnlessAPersonSaysSo()
    async throws
  {
    let scratch = try Scratch()
    let mount = scratch.url.appendingPathComponent("mount")
    let manager = FileManager.default
    try manager.createDirectory(at: mount, withIntermediateDirectories: false)
    let url = mount.appendingPathComponent("nas.sqlite")
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.insert(["a"])
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.close()
    try manager.moveItem(at: mount, to: scratch.url.appendingPathComponent("unmounted"))
    try manager.createDirectory(at: mount, withIntermediateDirectories: false)
    let next = try SyncEngineTests.Daemon("local", in: scratch)
    let replica = ReplicaConfiguration(name: "nas", url: url)
    try next.engine.addReplica(replica)
    let error = await #expect(throws: SyncError.self) {
      try await next.engine.verify(name: "nas", timeout: .patience)
    }
    #expect(error?.code == .storeUnavailable && error?.recovery == .wait)
    #expect(error?.message.contains("removed or moved away") == true)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    try await next.engine.removeReplica(named: "nas")
    try next.engine.addReplica(replica)
    try await next.engine.wait(timeout: .patience)
    #expect(try await next.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await next.close()
  }

  /// A reload with other settings makes a link of its own for them.
  @Test func aReplicaThatGetsOtherSettingsIsNotMadeAnewWhereItsDiskIsNotMounted() async throws {
    let scratch = try Scratch()
    let mount = scratch.url.appendingPathComponent("mount")
    let away = scratch.url.appendingPathComponent("unmounted")
    let manager = FileManager.default
    try manager.createDirectory(at: mount, withIntermediateDirectories: false)
    var replica = ReplicaConfiguration(name: "nas", url: mount.appendingPathComponent("nas.sqlite"))
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.insert(["a"])
    try daemon.engine.addReplica(replica)
    try await daemon.engine.wait(timeout: .patience)
    try manager.moveItem(at: mount, to: away)
    try manager.createDirectory(at: mount, withIntermediateDirectories: false)
    replica.timeout = 7
    try await daemon.engine.removeReplica(named: "nas", replacedBy: replica)
    try daemon.engine.addReplica(replica)
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .patience)
    }
    #expect(error?.code == .storeUnavailable && error?.recovery == .wait)
    #expect(try manager.contentsOfDirectory(atPath: mount.path) == [])
    #expect(try daemon.site.access.readers().values.contains { !$0.isExpired })
    // It goes on by itself when the disk is there.
    try manager.removeItem(at: mount)
    try manager.moveItem(at: away, to: mount)
    try daemon.insert(["b"])
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).records == 2)
    try await daemon.close()
  }

  @Test func aLinkToADiskThatIsMountedLaterIsFollowedThen() async throws {
    let scratch = try Scratch()
    let mount = scratch.url.appendingPathComponent("mount")
    let manager = FileManager.default
    let link = scratch.url.appendingPathComponent("nas.sqlite")
    try manager.createSymbolicLink(
      at: link, withDestinationURL: mount.appendingPathComponent("nas.sqlite"))
    let replica = ReplicaConfiguration(name: "nas", url: link)
    let daemon = try SyncEngineTests.Daemon("local", in: scratch)
    try daemon.insert(["a"])
    try daemon.engine.addReplica(replica)
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .patience)
    }
    #expect(error?.message.contains("leads nowhere") == true, "\(error?.message ?? "")")
    let other = try SyncEngineTests.Daemon("other", in: scratch)
    try await other.close()
    try manager.createDirectory(at: mount, withIntermediateDirectories: false)
    try manager.moveItem(
      at: scratch.url.appendingPathComponent("other.sqlite"),
      to: mount.appendingPathComponent("nas.sqlite"))
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.close()
  }

  @Test func aFileThatAPersonMovedAwayWhileNoEngineRanIsMadeAnew() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    try await daemon.close()
    for file in files(url) { try FileManager.default.removeItem(atPath: file) }
    let next = try SyncEngineTests.Daemon("local", in: scratch)
    let events = next.engine.events()
    try next.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await next.engine.wait(timeout: .patience)
    #expect(try await next.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await next.close()
    // Who moved it by mistake is told.
    var paths: [String] = []
    for await event in events {
      if case .madeAnew("nas", let path) = event { paths.append(path) }
    }
    #expect(paths == [url.path])
  }

  /// A disk may go after it was opened, and before anything was exchanged with it.
  @Test func aFileThatIsRemovedBeforeItsFirstPassIsNotMadeAnew() async throws {
    struct NotYet: Error {}
    let scratch = try Scratch()
    let isHeldUp = Mutex(true)
    var environment = SyncEnvironment.live
    environment.reach = { point in
      if point == .beforeCapture, isHeldUp.withLock({ $0 }) { throw NotYet() }
    }
    let daemon = try SyncEngineTests.Daemon("local", in: scratch, environment: environment)
    let url = scratch.url.appendingPathComponent("nas.sqlite")
    try daemon.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    let engine = daemon.engine
    let link: @Sendable () throws -> LinkStatus? = { try engine.status().replicas.first }
    #expect(try await eventually { try link().map { $0.counters.failedPasses > 0 } ?? false })
    for file in files(url) { try FileManager.default.removeItem(atPath: file) }
    isHeldUp.withLock { $0 = false }
    #expect(try await eventually { try link()?.lastError?.code == .storeUnavailable })
    #expect(try files(url) == [] && link()?.counters.passes == 0)
    await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .milliseconds(300))
    }
    try await daemon.close()
  }

  @Test func aReplicaThatWasRemovedWhileNoEngineRanOrIsAtAnotherPlaceIsNew() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    try await daemon.close()
    for file in files(url) { try FileManager.default.removeItem(atPath: file) }
    let moved = try SyncEngineTests.Daemon("local", in: scratch)
    let place = scratch.url.appendingPathComponent("elsewhere.sqlite")
    try moved.engine.addReplica(ReplicaConfiguration(name: "nas", url: place))
    try await moved.engine.wait(timeout: .patience)
    try await moved.close()
    // The operator takes it out of the configuration, starts the daemon, and puts it in again later.
    let other = try SyncEngineTests.Daemon("other", in: scratch)
    try await other.close()
    for file in files(place) { try FileManager.default.removeItem(atPath: file) }
    _ = try move(scratch.url.appendingPathComponent("other.sqlite"), to: "elsewhere.sqlite")
    let without = try SyncEngineTests.Daemon("local", in: scratch)
    try without.engine.forgetRemovedReplicas()
    try await without.close()
    let next = try SyncEngineTests.Daemon("local", in: scratch)
    try next.engine.addReplica(ReplicaConfiguration(name: "nas", url: place))
    try next.engine.forgetRemovedReplicas()
    try await next.engine.wait(timeout: .patience)
    #expect(try next.site.access.replicaIdentity(named: "nas") != nil)
    try await next.close()
  }

  @Test func filesOfTwoReplicasThatWereExchangedAreToBePutBack() async throws {
    let scratch = try Scratch()
    let urls = ["one", "two"].map { scratch.url.appendingPathComponent("\($0).sqlite") }
    func exchange() throws {
      _ = try move(urls[0], to: "aside.sqlite")
      _ = try move(urls[1], to: "one.sqlite")
      _ = try move(scratch.url.appendingPathComponent("aside.sqlite"), to: "two.sqlite")
    }
    func daemon() throws -> SyncEngineTests.Daemon {
      let daemon = try SyncEngineTests.Daemon("local", in: scratch)
      for (name, url) in zip(["one", "two"], urls) {
        try daemon.engine.addReplica(ReplicaConfiguration(name: name, url: url))
      }
      return daemon
    }
    let first = try daemon()
    try first.insert(["k"])
    try await first.engine.wait(timeout: .patience)
    try await first.close()
    try exchange()
    let next = try daemon()
    // The link that is added first may look before the other is there.
    let areTold = try await eventually {
      try next.engine.status().replicas.allSatisfy {
        $0.lastError?.message.contains("put the files of both back") == true
      }
    }
    let errors = try next.engine.status().replicas.compactMap(\.lastError)
    #expect(areTold, "\(errors)")
    try await next.close()
    try exchange()
    let last = try daemon()
    try await last.engine.wait(timeout: .patience)
    for name in ["one", "two"] {
      #expect(try await last.engine.verify(name: name, timeout: .patience).isEqual)
    }
    try await last.close()
  }

  /// As an operator restores a store by hand, and forgets the daemon that has it open.
  @Test func aReplicaThatABackupIsCopiedOverIsNeitherWrittenToNorCalledInStep() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    let open = try #require(try daemon.engine.openStore(ofReplica: "nas"))
    try #require(open.store as? SQLiteStore).checkpoint()
    let backup = try Data(contentsOf: url)
    for number in 0..<50 { try daemon.insert(["later \(number)"]) }
    try await daemon.engine.wait(timeout: .patience)
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: backup)
    try handle.close()
    for ending in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: url.path + ending)
    }
    daemon.engine.lookAtStores()
    // What it lacks comes back to it.
    try daemon.engine.syncNow()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await daemon.close()
    let again = try SyncEngineTests.Daemon("local", in: scratch)
    try again.engine.addReplica(ReplicaConfiguration(name: "nas", url: url))
    try await again.engine.wait(timeout: .patience)
    let report = try await again.engine.verify(name: "nas", timeout: .patience)
    #expect(report.isEqual && report.records == 51, "\(report)")
    try await again.close()
  }

  @Test func aLocalStoreThatIsRemovedTakesNoMoreWrites() async throws {
    let scratch = try Scratch()
    let (daemon, _) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    for file in files(scratch.url.appendingPathComponent("local.sqlite")) {
      try FileManager.default.removeItem(atPath: file)
    }
    let failure = #expect(throws: CoreDataError.self) { try daemon.insert(["lost"]) }
    #expect(failure?.message.contains("removed, moved or replaced") == true)
    // The next pass finds it, however busy the machine is.
    daemon.engine.poke(replica: "nas")
    #expect(
      try await eventually { try daemon.engine.link("nas").life.lastError != nil })
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.verify(name: "nas", timeout: .patience)
    }
    #expect(error?.message.contains("local.sqlite") == true)
    await daemon.engine.stop()
  }

  /// Another program that opens the file under the other name would destroy it.
  @Test func aReplicaThatGetsASecondNameWhileItIsOpenIsClosedUntilThatIsGone() async throws {
    let scratch = try Scratch()
    let (daemon, url) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    let other = scratch.url.appendingPathComponent("link.sqlite")
    try FileManager.default.linkItem(at: url, to: other)
    daemon.engine.lookAtStores()
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(timeout: .patience)
    }
    #expect(error?.code == .duplicateReplica && error?.message.contains("2 names") == true)
    #expect(try daemon.engine.status().replicas[0].storeID == nil, "it is closed")
    try FileManager.default.removeItem(at: other)
    try daemon.insert(["later"])
    try daemon.engine.syncNow()
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).isEqual)
    try await daemon.close()
  }

  @Test func nothingIsBroughtToOrFromALocalStoreWithASecondName() async throws {
    let scratch = try Scratch()
    let (daemon, _) = try await SyncEngineTests.Daemon.withReplica(in: scratch)
    let local = scratch.url.appendingPathComponent("local.sqlite")
    let other = scratch.url.appendingPathComponent("link.sqlite")
    try FileManager.default.linkItem(at: local, to: other)
    try daemon.insert(["later"])
    #expect(
      await eventually {
        (try? daemon.engine.status().replicas[0].lastError)?.message.contains("2 names") == true
      })
    try FileManager.default.removeItem(at: other)
    try await daemon.engine.wait(timeout: .patience)
    try await daemon.close()
  }

  /// How the path of one replica came to lead to the file of another while no engine ran.
  enum Joining: CaseIterable, Sendable { case link, linkedFolder, hardLink }

  /// The daemon with replicas `nas` and `usb` anew, whose paths lead to the file of `nas`, and what puts `usb` back.
  private func joined(
    by joining: Joining, in scratch: Scratch
  ) async throws -> (daemon: SyncEngineTests.Daemon, separate: () throws -> Void) {
    let manager = FileManager.default
    let folders = ["nas", "usb"].map { scratch.url.appendingPathComponent($0) }
    for folder in folders {
      try manager.createDirectory(at: folder, withIntermediateDirectories: false)
    }
    let urls = folders.map { $0.appendingPathComponent("store.sqlite") }
    func start() throws -> SyncEngineTests.Daemon {
      let daemon = try SyncEngineTests.Daemon("local", in: scratch)
      for (name, url) in zip(["nas", "usb"], urls) {
        try daemon.engine.addReplica(ReplicaConfiguration(name: name, url: url))
      }
      return daemon
    }
    let first = try start()
    try first.insert(["k"])
    try await first.engine.wait(timeout: .patience)
    try await first.close()
    let aside = scratch.url.appendingPathComponent("aside")
    try manager.moveItem(at: folders[1], to: aside)
    switch joining {
    case .linkedFolder:
      try manager.createSymbolicLink(at: folders[1], withDestinationURL: folders[0])
    case .link:
      try manager.createDirectory(at: folders[1], withIntermediateDirectories: false)
      try manager.createSymbolicLink(at: urls[1], withDestinationURL: urls[0])
    case .hardLink:
      try manager.createDirectory(at: folders[1], withIntermediateDirectories: false)
      try manager.linkItem(at: urls[0], to: urls[1])
    }
    return (
      try start(),
      {
        try manager.removeItem(at: folders[1])
        try manager.moveItem(at: aside, to: folders[1])
      }
    )
  }

  /// SQLite finds what lies beside a file by where links lead, so that one link can use it.
  @Test(arguments: [Joining.link, .linkedFolder])
  func ofTwoPathsThatCameToBeOneFileTheLinkGoesOnWhoseStoreItIs(by joining: Joining) async throws {
    let scratch = try Scratch()
    let (daemon, separate) = try await joined(by: joining, in: scratch)
    try daemon.insert(["later"])
    try await daemon.engine.wait(for: ["nas"], timeout: .patience)
    #expect(try await daemon.engine.verify(name: "nas", timeout: .patience).records == 2)
    let error = await #expect(throws: SyncError.self) {
      try await daemon.engine.wait(for: ["usb"], timeout: .patience)
    }
    #expect(error?.code == .duplicateReplica)
    #expect(error?.message.contains("the file of the replica nas under another name") == true)
    try separate()
    try daemon.engine.syncNow(names: ["usb"])
    try await daemon.engine.wait(timeout: .patience)
    #expect(try await daemon.engine.verify(name: "usb", timeout: .patience).records == 2)
    try await daemon.close()
  }

  /// Under two names SQLite keeps two logs, so that neither link can use it.
  @Test func twoPathsThatCameToBeNamesOfOneFileAreBothNamedUntilOneIsGone() async throws {
    let scratch = try Scratch()
    let (daemon, separate) = try await joined(by: .hardLink, in: scratch)
    for (name, other) in [("nas", "usb"), ("usb", "nas")] {
      let path = scratch.url.appendingPathComponent("\(other)/store.sqlite").path
      let engine = daemon.engine
      let found: @Sendable () throws -> SyncError? = {
        try engine.status().replicas.first { $0.name == name }?.lastError
      }
      // The link that was added first may be in the middle of its look when the other is added.
      let isNamed = try await eventually {
        try engine.syncNow(names: [name])
        return try found()?.message.contains(
          "\(path) of the replica \(other) are one file with 2 names") == true
      }
      let message = try found()?.message ?? ""
      #expect(isNamed, "\(message)")
      let error = await #expect(throws: SyncError.self) {
        try await engine.wait(for: [name], timeout: .patience)
      }
      #expect(error?.code == .duplicateReplica)
    }
    try separate()
    try daemon.insert(["later"])
    try daemon.engine.syncNow()
    try await daemon.engine.wait(timeout: .patience)
    for name in ["nas", "usb"] {
      #expect(try await daemon.engine.verify(name: name, timeout: .patience).records == 2)
    }
    try await daemon.close()
  }
}
