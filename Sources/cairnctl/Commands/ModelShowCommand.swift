// cairnctl model show
import ArgumentParser
import CairnControl

struct ModelShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show entities and their properties.",
    discussion: """
      Those of the daemon's model, or of a model file or package, or of what a SQLite store keeps inside.
      Example: cairnctl model show --file Library.xcdatamodeld Book
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(help: "One entity; all of them when left out.", completion: .entities)
  var entity: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A model file or package, or a SQLite store, read without a daemon.", valueName: "path"),
    completion: .file())
  var file: String?

  @Option(
    help: ArgumentHelp(
      "The version of a package; the current one when left out.", valueName: "name"))
  var modelVersion: String?

  func validate() throws {
    if modelVersion != nil, file == nil {
      throw ValidationError("--model-version goes with --file.")
    }
  }

  func run() throws {
    let model =
      try file.map {
        try InspectedFile.summary($0, version: modelVersion, timeout: shared.timeout)
      } ?? shared.connect().call(GetModel.self, NoValues()).model
    let entities = try entity.map { [try model.entity(named: $0)] } ?? model.entities
    if shared.json {
      var shown = model
      shown.entities = entities
      return try Output.json(shown)
    }
    for (index, entity) in entities.enumerated() {
      if index > 0 { Output.line("") }
      Self.lines(entity).forEach(Output.line)
    }
  }

  private static func lines(_ entity: EntitySummary) -> [String] {
    var head = entity.name
    if let parent = entity.superentity { head += ": \(parent)" }
    if entity.isAbstract { head += " (abstract)" }
    let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    let width = names.map(TextTable.width).max() ?? 0
    func padded(_ name: String) -> String {
      name + String(repeating: " ", count: width - TextTable.width(name))
    }
    var lines = [head]
    for attribute in entity.attributes {
      var text = "  \(padded(attribute.name))  \(attribute.type)"
      if !attribute.isOptional { text += ", required" }
      if attribute.isTransient { text += ", transient" }
      if let value = attribute.defaultValue, value != .null { text += ", default \(value.text)" }
      lines.append(TerminalText.oneLine(text))
    }
    for relationship in entity.relationships {
      let arrow = relationship.isToMany ? "->>" : "->"
      var text = "  \(padded(relationship.name))  \(arrow) \(relationship.destination)"
      if let inverse = relationship.inverse { text += ".\(inverse)" }
      if relationship.isOrdered { text += ", ordered" }
      if !relationship.isOptional { text += ", required" }
      text += ", \(relationship.deleteRule)"
      lines.append(TerminalText.oneLine(text))
    }
    for constraint in entity.uniqueness {
      lines.append("  unique: \(constraint.properties.joined(separator: ", "))")
    }
    return lines
  }
}
