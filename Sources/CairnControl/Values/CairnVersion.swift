// The version that programs show.

/// The version of Cairn.
public enum CairnVersion {
  /// As in the change log.
  public static let text = "0.1.0"
}
