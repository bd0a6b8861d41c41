// cairnctl model show
import ArgumentParser
import CairnControl
import Foundation

struct ModelShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show entities and their properties.",
    discussion: """
      Those of the daemon's model, or of a model file or package, or of what a SQLite store keeps inside. A \
      first word that names a file, or has a dot or a slash in it, is a file; any other an entity of the \
      daemon's model. With --file the only word is an entity.
      Example: cairnctl model show Library.xcdatamodeld Book
      """)

  @OptionGroup var shared: SharedOptions

  @Argument(
    help: ArgumentHelp(
      "A model file or package, or a SQLite store, read without a daemon; or an entity of the daemon's model.",
      valueName: "file or entity"), completion: .entitiesAndFiles)
  var subject: String?

  @Argument(help: "One entity of the file; all of them when left out.")
  var member: String?

  @Option(
    name: .long,
    help: ArgumentHelp("The file, for names that look like those of entities.", valueName: "path"),
    completion: .file())
  var file: String?

  @Option(
    help: ArgumentHelp(
      "The version of a package; the current one when left out.", valueName: "name"))
  var modelVersion: String?

  /// The file and the entity that the words mean.
  private var meaning: (file: String?, entity: String?) {
    if let file { return (file, subject) }
    guard let subject else { return (nil, nil) }
    let isFile =
      member != nil || subject.contains { "./".contains($0) }
      || FileManager.default.fileExists(atPath: subject)
    return isFile ? (subject, member) : (nil, subject)
  }

  func validate() throws {
    if file != nil, member != nil {
      throw ValidationError("With --file there is one entity, and no other file.")
    }
    if modelVersion != nil, meaning.file == nil {
      throw ValidationError("--model-version goes with a file.")
    }
  }

  func run() throws {
    let (file, entity) = meaning
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
