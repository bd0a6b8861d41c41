// Models and entities can be iterated over directly, as Core Data's can in Objective-C.
import CairnModel

extension ManagedObjectModel: Sequence {
  /// The model's entities, one after the other.
  public func makeIterator() -> IndexingIterator<[EntityDescription]> { entities.makeIterator() }
}

extension EntityDescription: Sequence {
  /// The entity's properties, inherited ones first.
  public func makeIterator() -> IndexingIterator<[PropertyDescription]> {
    properties.makeIterator()
  }
}
