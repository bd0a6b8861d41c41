// Names that the model does not have, with the ones that may have been meant.

import Cairn
import CairnControl

extension ControlError {
  /// The model has no entity of that name.
  public static func unknownEntity(_ name: String, in model: ManagedObjectModel) -> ControlError {
    .unknownEntity(
      entity: name, nearest: NearestName.find(name, among: model.entities.compactMap(\.name)))
  }

  /// The entity has no property of that name, or no property at the end of that key path.
  public static func unknownProperty(
    _ path: String, of entity: EntityDescription
  ) -> ControlError {
    let known = entity.propertiesByName.keys.sorted()
    return .unknownProperty(
      entity: entity.name ?? "", property: path, nearest: NearestName.find(path, among: known))
  }
}
