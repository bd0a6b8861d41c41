// cairnctl model graph
import ArgumentParser
import CairnControl
import CairnDiagrams
import CairnRecords

struct ModelGraphCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph",
    abstract: "Draw the entities of a model as SVG, or write them for Graphviz or Mermaid.",
    discussion: """
      Reads a model file or package, or the model that a SQLite store keeps inside; asks the daemon for \
      its model when no file is named.
      Example: cairnctl model graph Library.xcdatamodeld > library.svg
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case svg, dot, mermaid
  }

  @OptionGroup var shared: SharedOptions

  @Argument(help: ArgumentHelp("A model file or package, or a SQLite store.", valueName: "file"))
  var path: String?

  @Option(
    help: ArgumentHelp(
      "The version of a package; the current one when left out.", valueName: "name"))
  var modelVersion: String?

  @Option(help: "What is written: svg, dot (Graphviz) or mermaid.")
  var format = Format.svg

  func validate() throws {
    if modelVersion != nil, path == nil {
      throw ValidationError("--model-version goes with a file.")
    }
  }

  func run() throws {
    let diagram = EntityDiagram(try summary())
    let text =
      switch format {
      case .svg: diagram.svg()
      case .dot: diagram.dot()
      case .mermaid: diagram.mermaid()
      }
    if shared.json { return try Output.json(["format": format.rawValue, "text": text]) }
    Output.write(text)
  }

  private func summary() throws -> ModelSummary {
    guard let path else { return try shared.connect().call(GetModel.self, NoValues()).model }
    return try InspectedFile.summary(path, version: modelVersion, timeout: shared.timeout)
  }
}
