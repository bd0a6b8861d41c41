// What client and daemon agree on for each method.

/// A method of the control protocol: its name, role and the types that travel.
public protocol ControlMethod: Sendable {
  /// What the caller sends, an object on the wire.
  associatedtype Parameters: Codable & Sendable
  /// What each reply holds, an object on the wire.
  associatedtype Reply: Codable & Sendable

  /// The full name, `io.cairn.Daemon.GetStatus`.
  static var name: String { get }
  /// The least role that may call it.
  static var role: ControlRole { get }
  /// Whether it answers with a stream; then it must be called with `more`.
  static var isStreaming: Bool { get }
}

extension ControlMethod {
  public static var isStreaming: Bool { false }
}

/// Parameters or replies without content.
public struct NoValues: Codable, Sendable, Hashable {
  public init() {}
}

/// All methods there are, in the order of the interface descriptions.
public enum ControlMethods {
  /// One entry a method; a test holds it against the interface descriptions.
  public static let all: [any ControlMethod.Type] = [
    GetInfo.self, GetInterfaceDescription.self,
    GetStatus.self,
    ListStores.self, AddStore.self, RemoveStore.self, VerifyStores.self,
    SyncNow.self, WaitForSync.self, PauseSync.self, ResumeSync.self,
    GetModel.self, FetchRecords.self, SaveRecords.self, ImportRecords.self,
  ]
}
