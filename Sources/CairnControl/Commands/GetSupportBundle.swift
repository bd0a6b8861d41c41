// io.cairn.Daemon.GetSupportBundle: what helps to find a fault, without a value of any record.

/// Gathers texts for those who look for a fault.
///
/// No value of a record is among them: stores are described by their entities, counts and versions.
public enum GetSupportBundle: ControlMethod {
  public static let name = "io.cairn.Daemon.GetSupportBundle"
  public static let role = ControlRole.control
  public static let declarations = [
    """
    # A text with the name of its file.
    type BundleFile (name: string, text: string)
    """,
    """
    # Gather what helps to find a fault: status, configuration, metrics, the last entries of the log,
    # versions, and what stores and model are like; no values of records. Role: control.
    method GetSupportBundle() -> (files: []BundleFile)
    """,
  ]
  public typealias Parameters = NoValues

  public struct Reply: Codable, Sendable, Hashable {
    public var files: [File]
    public init(files: [File]) { self.files = files }
  }

  /// A text with the name of its file.
  public struct File: Codable, Sendable, Hashable {
    public var name: String
    public var text: String

    public init(name: String, text: String) {
      self.name = name
      self.text = text
    }
  }
}
