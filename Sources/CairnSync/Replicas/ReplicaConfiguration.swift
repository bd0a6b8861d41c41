import Foundation

/// A replica as it is configured.
public struct ReplicaConfiguration: Sendable, Hashable {
  /// Names the replica in commands, status and history.
  public var name: String
  /// The registered store type, such as `SQLite`.
  public var type: String
  public var url: URL
  /// Options of the store type, by their keys.
  public var options: [String: OptionValue]
  public var direction: SyncDirection
  /// The entities whose records are exchanged, with their subentities; nil for all.
  ///
  /// References to other records are kept and forwarded, and lead somewhere once the record is there.
  /// With more entities than before their records are exchanged from now on, those from before
  /// included; with fewer, what a store has of the others stays there as it is.
  /// Where an owner that is not exchanged is deleted, its members go along with it here, too; of owners
  /// above each other the last is to be exchanged for that.
  public var entities: Set<String>?
  /// Whether a replica of an older model may be migrated.
  public var migrates: Bool
  /// Seconds to wait for a lock that another process holds on the store.
  public var timeout: TimeInterval

  /// The value of an option of a store type.
  public enum OptionValue: Sendable, Hashable {
    case text(String)
    case flag(Bool)
    case number(Double)

    var object: NSObject {
      switch self {
      case .text(let text): NSString(string: text)
      case .flag(let flag): NSNumber(value: flag)
      case .number(let number): NSNumber(value: number)
      }
    }
  }

  public init(
    name: String, type: String = "SQLite", url: URL, options: [String: OptionValue] = [:],
    direction: SyncDirection = .both, entities: Set<String>? = nil, migrates: Bool = true,
    timeout: TimeInterval = 10
  ) {
    self.name = name
    self.type = type
    self.url = url
    self.options = options
    self.direction = direction
    self.entities = entities
    self.migrates = migrates
    self.timeout = timeout
  }

  /// What the direction leaves out, in words: "3 records stay in local: near only pulls".
  public func textOfLeftOut(_ count: Int) -> String {
    let what = "\(count) \(count == 1 ? "record stays" : "records stay")"
    return direction == .push
      ? "\(what) in \(name): \(name) only pushes" : "\(what) in local: \(name) only pulls"
  }
}
