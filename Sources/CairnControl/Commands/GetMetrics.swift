// io.cairn.Daemon.GetMetrics: figures for monitoring.

/// The figures that the daemon also serves over HTTP, in Prometheus' text format.
public enum GetMetrics: ControlMethod {
  public static let name = "io.cairn.Daemon.GetMetrics"
  public static let role = ControlRole.status
  public static let declarations = [
    """
    # Figures for monitoring, in the text format of Prometheus, version 0.0.4. Role: status.
    method GetMetrics() -> (text: string)
    """
  ]
  public typealias Parameters = NoValues

  public struct Reply: Codable, Sendable, Hashable {
    /// Lines that each end with a line feed.
    public var text: String
    public init(text: String) { self.text = text }
  }
}
