import Foundation

@testable import CairnSync

/// A replica in a simulation that is no store: a log that machines share, or another machine's daemon.
enum SimulatedMember {
  case log(SimulatedLog)
  case peer(SimulatedLine)

  /// Which of them a simulation has.
  enum Kind: String, CaseIterable, Sendable { case log, peer }

  var kind: Kind {
    switch self {
    case .log: .log
    case .peer: .peer
    }
  }

  var name: String { kind.rawValue }

  var configuration: ReplicaConfiguration {
    ReplicaConfiguration(
      name: name, type: kind.rawValue,
      // No file: what is there when it is opened the next time has to be what it was.
      url: URL(string: "\(kind.rawValue)://simulated") ?? URL(filePath: "/simulated"))
  }

  /// How an engine on a machine reaches it.
  func replicaKind(on machine: String) -> any ReplicaKind {
    switch self {
    case .log(let log): LogReplicaKind(type: name) { _ in log.view(of: machine) }
    case .peer(let line): PeerReplicaKind(type: name) { _ in line }
    }
  }
}
