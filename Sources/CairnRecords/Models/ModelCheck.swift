// What is wrong with a model file.

import Cairn
import CairnModel
import CairnSQL

/// Everything that keeps stores from being used with a model, and what people usually do not mean.
public struct ModelCheck: Sendable, Hashable, Encodable {
  public struct Finding: Sendable, Hashable, Encodable {
    public enum Severity: String, Sendable, Encodable {
      /// No store can be opened with this model.
      case error
      /// It works, and is rarely meant.
      case remark
    }

    public let severity: Severity
    /// Stable, such as `missingDestination`.
    public let code: String
    public let file: String
    /// The line of the document, where it has lines.
    public let line: Int?
    public let version: String
    /// `Entity` or `Entity.property`; nil for the whole version.
    public let place: String?
    /// What is wrong and what would be right.
    public let message: String
  }

  public struct Version: Sendable, Hashable, Encodable {
    public let name: String
    /// Nil where it cannot be read.
    public let entities: Int?
    public let checksum: String?
  }

  public let file: String
  public let current: String
  public let versions: [Version]
  public let findings: [Finding]

  public var hasErrors: Bool { findings.contains { $0.severity == .error } }

  public init(_ file: ModelVersions) {
    self.file = file.url.path
    current = file.current
    versions = file.versions.map { version in
      let model = try? version.model.get()
      return Version(
        name: version.name, entities: model?.entities.count, checksum: model?.versionChecksum)
    }
    findings = file.versions.flatMap(Self.findings) + Self.findingsBetween(file)
  }

  private static func findings(in version: ModelVersions.Version) -> [Finding] {
    func finding(
      _ severity: Finding.Severity, _ code: String, _ place: String?, _ message: String,
      line: Int? = nil
    ) -> Finding {
      Finding(
        severity: severity, code: code, file: version.url.path, line: line, version: version.name,
        place: place, message: message)
    }
    switch version.model {
    case .failure(let error):
      return error.problems.map {
        finding(.error, $0.code.rawValue, nil, $0.message, line: $0.line)
      }
    case .success(let model):
      let errors = ModelValidation.problems(of: model).map {
        finding(.error, $0.code, $0.place, $0.message)
      }
      let remarks = model.entities.flatMap { entity in
        entity.declaredProperties.compactMap { property in
          remark(property).map {
            finding(.remark, $0.code, "\(entity.name ?? "?").\(property.name)", $0.message)
          }
        }
      }
      let limits = SQLiteLimits.nameProblems(of: model) + SQLiteLimits.indexProblems(of: model)
      return errors + remarks + limits.map { finding(.remark, $0.code, $0.place, $0.message) }
        + model.indexRemarks.map { finding(.remark, "indexOfSameName", nil, $0) }
    }
  }

  private static func remark(_ property: PropertyDescription) -> (code: String, message: String)? {
    if let relationship = property as? RelationshipDescription,
      relationship.inverseRelationship == nil, relationship.destinationEntity != nil
    {
      return (
        "noInverse",
        "The relationship has no inverse: when its destination is deleted, nothing notices here. "
          + "Give it one at \(relationship.destinationEntity?.name ?? "its destination")."
      )
    }
    if let attribute = property as? AttributeDescription,
      attribute.attributeType == .transformable, attribute.valueTransformerName == nil
    {
      return (
        "noTransformer",
        "The transformable attribute names no transformer; NSSecureUnarchiveFromData decodes none "
          + "but known classes."
      )
    }
    return nil
  }

  /// What is wrong between versions: two that are one, and old ones that stores cannot leave.
  private static func findingsBetween(_ file: ModelVersions) -> [Finding] {
    var findings: [Finding] = []
    func remark(_ code: String, _ version: ModelVersions.Version, _ message: String) {
      findings.append(
        Finding(
          severity: .remark, code: code, file: version.url.path, line: nil, version: version.name,
          place: nil, message: message))
    }
    let readable = file.versions.compactMap { version in
      (try? version.model.get()).map { (version: version, model: $0) }
    }.filter { ModelValidation.problems(of: $0.model).isEmpty }
    for (index, second) in readable.enumerated() {
      let first = readable[..<index].first {
        $0.model.entityVersionHashesByName == second.model.entityVersionHashesByName
      }
      if let first {
        remark(
          "sameVersion", second.version,
          "Its version hashes are those of \(first.version.name): stores of the two cannot be told "
            + "apart. Remove one, or give an entity a hash modifier.")
      }
    }
    guard let current = readable.first(where: { $0.version.name == file.current }) else {
      return findings
    }
    for old in readable where old.version.name != file.current {
      let difference = ModelDifference(from: old.model, to: current.model)
      guard !difference.isInferable,
        file.mapping(from: old.model, to: current.model) == nil
      else { continue }
      remark(
        "noWayToCurrent", old.version,
        "Stores of this version cannot be brought to \(file.current): no lightweight migration can, "
          + "and no mapping model is in the package or beside it. First: "
          + "\(difference.refusals.first.map(\.description) ?? "")")
    }
    return findings
  }
}
