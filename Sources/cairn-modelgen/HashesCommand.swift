import ArgumentParser
import CairnModel
import CairnModelFiles
import Foundation

/// Prints the version hashes of a model, as stores record them.
struct HashesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hashes",
    abstract: "Prints the checksum of a model and the version hash of each entity.")

  @Argument(help: "A .xcdatamodeld, .xcdatamodel, .momd or .mom.")
  var model: String

  func run() throws {
    let model = try ManagedObjectModel.read(contentsOf: URL(fileURLWithPath: model))
    print("checksum \(model.versionChecksum)")
    for (name, hash) in model.entityVersionHashesByName.sorted(by: { $0.key < $1.key }) {
      print("\(name) \(hash.map { String(format: "%02x", $0) }.joined())")
    }
  }
}
