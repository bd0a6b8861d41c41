import CairnModel
import CairnModelFiles
import Foundation

/// Finds the mapping model between two versions among a program's resources.
package struct MappingModelSearch {
  let folders: [URL]

  package init(folders: [URL]) { self.folders = folders }

  func mapping(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> MappingModel? { found(from: source, to: destination)?.model }

  /// The mapping model and its file.
  package func found(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> (model: MappingModel, url: URL)? {
    for url in ProgramResources.files(withExtensions: ["cdm", "xcmappingmodel"], in: folders) {
      if let model = try? MappingModel.read(contentsOf: url), model.fits(source, destination) {
        model.deriveExpressions(from: source)
        return (model, url)
      }
    }
    return nil
  }
}

extension MappingModel {
  /// Whether the mapping leads from one model to the other: versions are the same where they are
  /// recorded, every entity and property that it names exists, and every entity of both models has
  /// a mapping.
  package func fits(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> Bool {
    guard sourceVersion?.isVersion(of: source) ?? true,
      destinationVersion?.isVersion(of: destination) ?? true
    else { return false }
    var sources: Set<String> = []
    var destinations: Set<String> = []
    for mapping in entityMappings ?? [] {
      if let name = mapping.sourceEntityName {
        guard let entity = source.entitiesByName[name],
          mapping.sourceEntityVersionHash.map({ $0 == entity.versionHash }) ?? true
        else { return false }
        sources.insert(name)
      }
      if let name = mapping.destinationEntityName {
        guard let entity = destination.entitiesByName[name],
          mapping.destinationEntityVersionHash.map({ $0 == entity.versionHash }) ?? true
        else { return false }
        destinations.insert(name)
        let properties = (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])
        for property in properties where entity.propertiesByName[property.name ?? ""] == nil {
          return false
        }
      }
    }
    func covers(_ names: Set<String>, _ model: ManagedObjectModel) -> Bool {
      model.entities.allSatisfy { $0.isAbstract || names.contains($0.name ?? "") }
    }
    return !destinations.isEmpty && covers(destinations, destination)
      && sources.allSatisfy { source.entitiesByName[$0] != nil }
  }
}
