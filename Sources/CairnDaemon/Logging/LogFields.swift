// The metadata of a log line as a flat list of texts.
import Logging

enum LogFields {
  /// Handler's, provider's and line's metadata, later ones winning, sorted by key.
  static func merged(
    _ base: Logger.Metadata, provider: Logger.MetadataProvider?, event: Logger.Metadata?
  ) -> [(key: String, value: String)] {
    var all = base
    if let provider { all.merge(provider.get()) { $1 } }
    if let event { all.merge(event) { $1 } }
    return all.map { ($0.key, $0.value.description) }.sorted { $0.0 < $1.0 }
  }
}
