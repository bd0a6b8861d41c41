// Where commands that only read find their records.
import ArgumentParser

/// The daemon's local store, another of its stores, or a file that this program reads by itself.
struct SourceOptions: ParsableArguments {
  @Option(
    name: .long, help: "Read from this store instead of the local one.", completion: .stores)
  var store: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Read this store file itself, without a daemon.", valueName: "path"),
    completion: .file())
  var file: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The file's model; the one that it keeps inside when left out.", valueName: "path"),
    completion: .file())
  var model: String?

  func validate() throws {
    if file != nil, store != nil { throw ValidationError("Use --file or --store, not both.") }
    if model != nil, file == nil { throw ValidationError("--model goes with --file.") }
  }

  /// The file that is named, opened; nil where a daemon reads.
  func open() throws -> StoreFile? { try file.map { try StoreFile(path: $0, model: model) } }
}
