// cairnctl model convert
import ArgumentParser
import Cairn
import CairnControl
import CairnPlatform
import Foundation

struct ModelConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Make a model package of the model inside a store, or of another model file.",
    discussion: """
      Reads a SQLite store that keeps its model inside, a .mom, .momd, .xcdatamodel or \
      .xcdatamodeld; of a package, every version. Writes a .xcdatamodeld for the editor, or a .mom \
      of the current version. The version hashes are the same before and after. What the written \
      form has no words for is listed on standard error, and what stores do not make of the model. \
      Needs no daemon.
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: ArgumentHelp("The store or model file to read.", valueName: "file"))
  var input: String

  @Argument(
    help: ArgumentHelp(
      "The .xcdatamodeld or .mom to make; nothing may be there yet.", valueName: "output"))
  var output: String

  struct Result: Encodable {
    struct Version: Encodable {
      let name: String
      let entities: Int
      let checksum: String
    }
    let output: String
    let current: String
    let versions: [Version]
    /// What the written form has no words for.
    let lost: [String]
    /// What stores do not make of the models though they say it.
    let remarks: [String]
  }

  func validate() throws {
    guard ["xcdatamodeld", "mom"].contains(URL(fileURLWithPath: output).pathExtension) else {
      throw ValidationError("The output is a .xcdatamodeld or a .mom.")
    }
  }

  func run() throws {
    let url = URL(fileURLWithPath: output)
    let name = url.deletingPathExtension().lastPathComponent
    var (versions, current) = try InspectedFile.versions(
      input, name: name, timeout: shared.timeout)
    if url.pathExtension == "mom" { versions = versions.filter { $0.name == current } }
    let lost = try write(versions, current: current, to: url)
    let result = Result(
      output: output, current: current,
      versions: versions.map {
        .init(
          name: $0.name, entities: $0.model.entities.count, checksum: $0.model.versionChecksum)
      }, lost: lost,
      remarks: versions.flatMap { version in
        version.model.indexRemarks.map {
          versions.count == 1 ? $0 : "\(version.name): \($0)"
        }
      })
    if shared.json { return try Output.json(result) }
    for version in result.versions {
      let entities = Readable.count(version.entities, "entity", "entities")
      Output.line(
        TerminalText.oneLine("\(output): \(version.name), \(entities), \(version.checksum)"))
    }
    for loss in lost { Output.note(TerminalText.oneLine("not written: \(loss)")) }
    for remark in result.remarks { Output.note(TerminalText.oneLine("remark: \(remark)")) }
  }

  private func write(
    _ versions: [ModelPackage.Version], current: String, to url: URL
  ) throws -> [String] {
    do {
      guard url.pathExtension == "mom" else {
        return try ModelPackage.write(versions, current: current, to: url)
      }
      if FileManager.default.fileExists(atPath: url.path) {
        throw CommandFailure(
          message: "\(output) is there already", hint: "remove it, or name another output")
      }
      for version in versions {
        let data = try CompiledModel.write(version.model)
        try AtomicFileWrite.replace(path: url.path, with: [UInt8](data), mode: 0o644)
      }
      return []
    } catch let error as ModelFileError {
      throw CommandFailure(
        message: "\(error)", hint: "name another output, which is not there and can be written")
    } catch let error as PlatformError {
      throw CommandFailure(
        message: "\(error)", hint: "name another output, in a folder that this user may write to")
    }
  }
}
