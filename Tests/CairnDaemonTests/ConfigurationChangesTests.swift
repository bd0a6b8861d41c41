// What a changed configuration asks of a running daemon.
import Testing

@testable import CairnDaemon

@Suite struct ConfigurationChangesTests {
  private let base = DaemonConfiguration(
    model: .file("/m.mom"), control: ControlSection(socket: "/s"),
    local: LocalSection(path: "/l.sqlite"),
    replicas: [ReplicaSection(name: "nas", store: .sqlite(path: "/n.sqlite"))])

  private func changes(_ change: (inout DaemonConfiguration) -> Void) -> ConfigurationChanges {
    var other = base
    change(&other)
    return ConfigurationChanges(from: base, to: other)
  }

  @Test func nothingChangesWhereNothingDiffers() {
    let same = changes { _ in }
    #expect(same.keys.isEmpty && same.needingRestart.isEmpty && !same.isEngineConcerned)
  }

  @Test func whatTheDaemonCannotChangeIsNamed() {
    let many = changes {
      $0.model = .fromStore
      $0.control.socket = "/t"
      $0.control.maxConnections = 7
      $0.local.path = "/k.sqlite"
      $0.local.durability = .normal
      $0.log.format = .json
      $0.metrics.socket = "/m"
      $0.metrics.address = .init(host: "127.0.0.1", port: 9464)
      $0.log.level = .debug
    }
    #expect(
      many.needingRestart == [
        "model", "control.socket", "control.maxConnections", "local.path", "local.durability",
        "metrics.socket", "metrics.address", "log.format",
      ])
    #expect(many.keys.contains("log.level"))
  }

  @Test func rolesLevelAndReplicasNeedNoOtherEngine() {
    let live = changes {
      $0.control.statusGroup = 7
      $0.control.adminGroup = 8
      $0.control.storeFolders = ["/mnt"]
      $0.log.level = .debug
      $0.backup.folder = "/copies"
      $0.sync.requiredWait = .zero
      $0.replicas = [
        ReplicaSection(name: "nas", store: .sqlite(path: "/n.sqlite"), direction: .push),
        ReplicaSection(name: "usb", store: .sqlite(path: "/u.sqlite")),
      ]
    }
    #expect(
      live.keys == [
        "control.statusGroup", "control.adminGroup", "control.storeFolders", "replicas.nas",
        "replicas.usb", "sync.requiredWait", "backup.folder", "log.level",
      ])
    #expect(live.needingRestart.isEmpty && !live.isEngineConcerned && live.isKeeperConcerned)
    #expect(changes { $0.replicas = [] }.keys == ["replicas.nas"])
  }

  /// What takes each of them in reads it from the configuration that the keeper has.
  @Test func theKeeperGetsAllButRolesAndTheLevelOfTheLog() {
    let changes: [(inout DaemonConfiguration) -> Void] = [
      { $0.control.storeFolders = ["/mnt"] }, { $0.backup.folder = "/copies" },
      { $0.sync.requiredWait = .zero }, { $0.replicas = [] }, { $0.sync.retention = .seconds(1) },
    ]
    for change in changes { #expect(self.changes(change).isKeeperConcerned) }
    let others: [(inout DaemonConfiguration) -> Void] = [
      { $0.control.statusGroup = 7 }, { $0.control.adminGroup = 8 }, { $0.log.level = .debug },
      { _ in },
    ]
    for change in others { #expect(!self.changes(change).isKeeperConcerned) }
  }

  @Test func whatConcernsEveryLinkTakesAnotherEngine() {
    let sync = changes {
      $0.sync.retention = .seconds(7200)
      $0.sync.entityConflicts = ["A": .deleteWins]
    }
    #expect(sync.keys == ["sync.conflict.entities", "sync.retention"])
    #expect(sync.isEngineConcerned && sync.needingRestart.isEmpty)
  }

  /// A key that is added to a section and forgotten here would be reloaded in silence, or never.
  @Test func everyKeyOfTheConfigurationIsCompared() {
    func count(_ value: Any) -> Int { Mirror(reflecting: value).children.count }
    #expect(count(base) == 8)
    #expect(count(base.control) == 5 && count(base.local) == 2 && count(base.log) == 2)
    #expect(count(base.sync) == 11 && count(base.metrics) == 2 && count(base.backup) == 1)
  }
}
