// `control`: the socket that cairnctl talks to, and who may use it.

/// The control socket and the groups that have roles on it.
public struct ControlSection: Sendable, Hashable {
  /// The socket file.
  ///
  /// Not used when systemd passes a socket in.
  public var socket: String
  /// Members may look; they also get access to the socket file.
  public var statusGroup: UInt32?
  /// Members may change data and drive sync.
  public var adminGroup: UInt32?
  /// Connections at one time, all callers together.
  public var maxConnections: Int
  /// Folders below which members of ``adminGroup`` may add replicas, besides those of the stores that are configured.
  public var storeFolders: [String]

  public init(
    socket: String, statusGroup: UInt32? = nil, adminGroup: UInt32? = nil,
    maxConnections: Int = 256, storeFolders: [String] = []
  ) {
    self.socket = socket
    self.statusGroup = statusGroup
    self.adminGroup = adminGroup
    self.maxConnections = maxConnections
    self.storeFolders = storeFolders
  }

  static func read(_ reader: SectionReader, groups: GroupLookup) -> ControlSection? {
    let path = reader.absolutePath(
      reader.text("socket") ?? "/run/cairnd/control", key: "socket")
    if let path, path.utf8.count > 107 {
      reader.report(
        "socket", "the path has \(path.utf8.count) bytes", "a socket's path can have 107 at most")
    }
    let status = group("statusGroup", default: "cairn", reader, groups)
    let admin = group("adminGroup", default: "cairn-admin", reader, groups)
    let connections = reader.number("maxConnections", default: 256, in: 4...4096)
    let folders = (reader.texts("storeFolders") ?? []).compactMap { text -> String? in
      guard let folder = try? reader.expanded(text) else {
        reader.report("storeFolders", "\"\(text)\" holds a variable that is not known")
        return nil
      }
      return reader.absolutePath(folder, key: "storeFolders")
    }
    reader.finish()
    return path.map {
      ControlSection(
        socket: $0, statusGroup: status, adminGroup: admin, maxConnections: connections,
        storeFolders: folders)
    }
  }

  /// A group that is named must exist; a default one is used when it does.
  private static func group(
    _ key: String, default fallback: String, _ reader: SectionReader, _ groups: GroupLookup
  ) -> UInt32? {
    guard let name = reader.text(key) else { return groups(fallback) }
    if let found = groups(name) { return found }
    reader.report(
      key, "this machine has no group \"\(name)\"", "create it: groupadd --system \(name)")
    return nil
  }
}
