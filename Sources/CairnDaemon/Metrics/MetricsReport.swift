// What the daemon knows of itself, as figures.

import CairnControl
import CairnStore
import CairnSync

/// Puts the figures of one moment together.
///
/// Labels are names from the configuration and words of the
/// protocol, never anything from records or from clients.
struct MetricsReport {
  let status: DaemonStatus
  /// Nil while no engine runs.
  let sync: SyncStatus?
  let process: ProcessFigures
  /// Of the local store.
  let room: StoreRoom
  /// Of the local store; nil while it is not open.
  var commits: CommitTimes.Sums?
  var service = ServiceFigures.Values()
  var group = GroupFigures.Values()

  init(
    status: DaemonStatus, sync: SyncStatus?, process: ProcessFigures, room: StoreRoom = StoreRoom()
  ) {
    self.status = status
    self.sync = sync
    self.process = process
    self.room = room
  }

  /// The figures of this moment, at every time of the daemon's life.
  init(_ status: DaemonStatus, of host: EngineHost, _ figures: ServiceFigures) async {
    let group = try? await host.current().current()
    self.init(
      status: status, sync: try? group?.engine.status(), process: .current,
      room: status.local.map { StoreRoom(path: $0.location) } ?? StoreRoom())
    commits = group?.local.capabilities.writer?.commitTimes.sums
    service = figures.values()
    self.group = group?.figures.values ?? GroupFigures.Values()
  }

  var text: String { text(as: .text) }

  func text(as format: MetricsText.Format) -> String {
    var metrics = MetricsText(format)
    addDaemon(to: &metrics)
    addService(to: &metrics)
    addLocal(to: &metrics)
    addReplicas(to: &metrics)
    addCounters(to: &metrics)
    addChecks(to: &metrics)
    addProcess(to: &metrics)
    return metrics.text
  }

  // MARK: The daemon

  private func addDaemon(to metrics: inout MetricsText) {
    metrics.family(
      "cairn_build_info", .gauge, "Always 1; the label says which version runs.",
      [.init(1, [("version", status.version)])])
    metrics.family(
      "cairn_start_time_seconds", .gauge, "When the daemon started, in seconds since 1970.",
      [.init(Self.seconds(status.startedAt))])
    metrics.family(
      "cairn_state", .gauge, "1 for the state that the daemon is in, 0 for the others.",
      DaemonStatus.State.allCases.map {
        .init($0 == status.state ? 1 : 0, [("state", $0.rawValue)])
      })
    // Several replicas can have one and the same problem.
    let problems = Dictionary(status.problems.map { ($0.code, 1) }, uniquingKeysWith: +)
    metrics.family(
      "cairn_problems", .gauge, "What is wrong now, by the code that status shows; none is well.",
      problems.sorted { $0.key < $1.key }.map { .init($0.value, [("code", $0.key)]) })
  }

  private func addService(to metrics: inout MetricsText) {
    metrics.family(
      "cairn_control_connections", .gauge, "Open connections to the control socket.",
      [.init(service.connections)])
    metrics.family(
      "cairn_control_refused_total", .counter,
      "Callers that were turned away: no room, no permission, or answers that they did not read.",
      ServiceFigures.Refusal.allCases.map {
        .init(service.refused[$0] ?? 0, [("reason", $0.rawValue)])
      })
    metrics.family(
      "cairn_watchdog_max_gap_seconds", .gauge,
      "The longest time between two signs of life to systemd in the last ten minutes.",
      service.longestGap.map { [.init($0)] } ?? [])
    metrics.family(
      "cairn_watchdog_limit_seconds", .gauge,
      "After so long without a sign of life systemd ends the daemon.",
      service.gapLimit.map { [.init($0)] } ?? [])
  }

  private func addLocal(to metrics: inout MetricsText) {
    guard let local = status.local else { return }
    let store = [("store", local.name)]
    metrics.family(
      "cairn_store_open", .gauge, "1 while the local store is open and in order.",
      [.init(local.state == .open ? 1 : 0, store)])
    metrics.family(
      "cairn_store_bytes", .gauge, "Size of the local store on disk, with its journals.",
      local.bytes.map { [.init($0, store)] } ?? [])
    metrics.family(
      "cairn_store_log_bytes", .gauge,
      "Size of the local store's write-ahead log, which a reader that does not end makes grow.",
      room.logBytes.map { [.init($0, store)] } ?? [])
    metrics.family(
      "cairn_store_free_bytes", .gauge, "Room on the disk that the local store is on.",
      room.freeBytes.map { [.init($0, store)] } ?? [])
    metrics.family(
      "cairn_store_records", .gauge, "Records in the local store.",
      local.records.map { [.init($0, store)] } ?? [])
    metrics.family(
      "cairn_store_last_transaction", .gauge,
      "Number of the newest transaction in the local store's history.",
      local.lastTransaction.map { [.init($0, store)] } ?? [])
    addCommits(to: &metrics, store)
  }

  private func addCommits(to metrics: inout MetricsText, _ store: [(String, String)]) {
    guard let commits else { return }
    metrics.histogram(
      "cairn_store_commit_seconds",
      "What commits of the daemon to the local store took, nearly all of it the flush to the disk.",
      bounds: CommitTimes.bounds, counts: commits.counts, count: commits.count,
      sum: commits.seconds, store)
  }

  /// When stores were last looked at as a whole, and what was found.
  private func addChecks(to metrics: inout MetricsText) {
    let checks = group.checks.sorted { $0.key < $1.key }
    metrics.family(
      "cairn_store_last_check_timestamp_seconds", .gauge,
      "When a store was last checked as a whole, in seconds since 1970.",
      checks.map { .init($0.value.date.timeIntervalSince1970, [("store", $0.key)]) })
    metrics.family(
      "cairn_store_check_findings_total", .counter,
      "Damage that checks have found in the local store, and differences in replicas.",
      checks.map { .init($0.value.found, [("store", $0.key)]) })
    metrics.family(
      "cairn_replica_errors_total", .counter,
      "How often a pass failed or a replica could not be reached, by the code that status shows.",
      group.errors.sorted { $0.key < $1.key }.flatMap { replica, codes in
        codes.sorted { $0.key < $1.key }.map {
          .init($0.value, [("replica", replica), ("code", $0.key)])
        }
      })
  }

  // MARK: Replicas

  private func addReplicas(to metrics: inout MetricsText) {
    let replicas = status.replicas
    typealias State = ReplicaStatus.State
    metrics.family(
      "cairn_replica_state", .gauge, "1 for the state that the replica is in, 0 for the others.",
      replicas.flatMap { replica in
        State.allCases.map {
          .init(
            $0 == replica.state ? 1 : 0, [("replica", replica.name), ("state", $0.rawValue)])
        }
      })
    func gauge(
      _ name: String, _ help: String, _ value: (ReplicaStatus) -> Double?
    ) {
      metrics.family(
        name, .gauge, help,
        replicas.compactMap { replica in
          value(replica).map { .init($0, [("replica", replica.name)]) }
        })
    }
    gauge("cairn_replica_lag_transactions", "Transactions that one side has and the other lacks.") {
      $0.lagTransactions.map(Double.init)
    }
    gauge("cairn_replica_lag_seconds", "Age of the oldest transaction that one side lacks.") {
      $0.lagSeconds
    }
    gauge(
      "cairn_replica_last_pass_timestamp_seconds",
      "When the last complete pass ended, in seconds since 1970."
    ) { $0.lastPass.map(Self.seconds) }
    gauge("cairn_replica_required", "1 for a replica that the daemon is not ready without.") {
      $0.required ? 1 : 0
    }
    metrics.family(
      "cairn_replica_waiting", .gauge,
      "What waits at a replica, by the kind that status shows; a count, or 1 where there is none.",
      replicas.flatMap { replica in
        Dictionary(
          replica.waits.map { ($0.kind, $0.count ?? 1) }, uniquingKeysWith: +
        ).sorted { $0.key.rawValue < $1.key.rawValue }.map {
          .init($0.value, [("replica", replica.name), ("kind", $0.key.rawValue)])
        }
      })
  }

  private func addCounters(to metrics: inout MetricsText) {
    guard let sync else { return }
    func counter(_ name: String, _ help: String, _ value: KeyPath<SyncCounters, Int>) {
      metrics.family(
        name, .counter, help,
        sync.replicas.map {
          .init($0.counters[keyPath: value], [("replica", $0.name)])
        })
    }
    counter("cairn_replica_passes_total", "Passes that were completed.", \.passes)
    counter("cairn_replica_failed_passes_total", "Passes that failed.", \.failedPasses)
    counter("cairn_replica_conflicts_total", "Conflicts that merging decided.", \.conflicts)
    counter(
      "cairn_replica_quarantined_total", "Records that were put into quarantine.", \.quarantined)
    counter(
      "cairn_replica_replans_total", "Commits that were planned again because of other writers.",
      \.replans)
    func moved(_ name: String, _ help: String, _ kinds: [(String, KeyPath<SyncCounters, Int>)]) {
      metrics.family(
        name, .counter, help,
        sync.replicas.flatMap { replica in
          kinds.map { way, path in
            .init(
              replica.counters[keyPath: path], [("replica", replica.name), ("direction", way)])
          }
        })
    }
    moved(
      "cairn_replica_records_total", "Records that were brought to the other side.",
      [("pull", \.recordsPulled), ("push", \.recordsPushed)])
    moved(
      "cairn_replica_links_total", "Members of relationships that were brought to the other side.",
      [("pull", \.linksPulled), ("push", \.linksPushed)])
  }

  // MARK: The process

  private func addProcess(to metrics: inout MetricsText) {
    func one(_ name: String, _ kind: MetricsText.Kind, _ help: String, _ value: Double?) {
      metrics.family(name, kind, help, value.map { [.init($0)] } ?? [])
    }
    one(
      "process_cpu_seconds_total", .counter, "Processor time used.", process.processorSeconds)
    one(
      "process_resident_memory_bytes", .gauge, "Memory in use.",
      process.residentBytes.map(Double.init))
    one("process_open_fds", .gauge, "Open file descriptors.", process.openFiles.map(Double.init))
    one("process_threads", .gauge, "Threads.", process.threads.map(Double.init))
  }

  private static func seconds(_ date: WireDate) -> Double { date.date.timeIntervalSince1970 }
}
