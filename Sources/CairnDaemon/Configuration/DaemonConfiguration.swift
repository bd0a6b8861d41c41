// All settings of the daemon, checked and typed.

/// The daemon's configuration after reading, merging and checking.
///
/// Values only; each part is described in `Config/cairnd.yaml`.
public struct DaemonConfiguration: Sendable, Hashable {
  public var model: ModelSection
  public var control: ControlSection
  public var local: LocalSection
  public var replicas: [ReplicaSection]
  public var sync: SyncSection
  public var log: LogSection
  public var metrics: MetricsSection
  public var backup: BackupSection

  public init(
    model: ModelSection, control: ControlSection, local: LocalSection,
    replicas: [ReplicaSection] = [], sync: SyncSection = SyncSection(),
    log: LogSection = LogSection(), metrics: MetricsSection = MetricsSection(),
    backup: BackupSection? = nil
  ) {
    self.model = model
    self.control = control
    self.local = local
    self.replicas = replicas
    self.sync = sync
    self.log = log
    self.metrics = metrics
    self.backup = backup ?? BackupSection(localStore: local.path)
  }

}

/// What could be read of a configuration, section by section.
///
/// A key with a problem has its default here.
struct ConfigurationSections: Sendable {
  /// Nil where it is missing or wrong, as with the two that follow.
  let model: ModelSection?
  let control: ControlSection?
  let local: LocalSection?
  let replicas: [ReplicaSection]
  let sync: SyncSection
  let log: LogSection
  let metrics: MetricsSection
  let backup: BackupSection?

  /// Reads every section; problems go to the collector.
  init(
    _ root: ConfigurationNode, collector: ProblemCollector, expansion: VariableExpansion,
    groups: GroupLookup
  ) {
    let reader = SectionReader(
      root, path: "", missingOrigin: root.origin, collector: collector, expansion: expansion)
    model = ModelSection.read(reader)
    control = ControlSection.read(reader.section("control"), groups: groups)
    let local = LocalSection.read(reader.section("local"))
    self.local = local
    replicas = ReplicaSection.readAll(reader, local: local)
    sync = SyncSection.read(reader.section("sync"))
    log = LogSection.read(reader.section("log"))
    metrics = MetricsSection.read(reader.section("metrics"))
    backup = BackupSection.read(reader.section("backup"), local: local)
    reader.finish()
  }

  /// All of it; nil when something that has no default is missing or wrong.
  var configuration: DaemonConfiguration? {
    guard let model, let control, let local else { return nil }
    return DaemonConfiguration(
      model: model, control: control, local: local, replicas: replicas, sync: sync, log: log,
      metrics: metrics, backup: backup)
  }
}

/// Asks whether a group exists; a closure so that tests need no accounts.
public typealias GroupLookup = @Sendable (_ name: String) -> UInt32?
