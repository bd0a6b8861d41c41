import Foundation

// Real models declare two fetch indexes of one name; a database can have only one of them.

extension EntityDescription {
  /// The fetch indexes that stores make: of those with the same name the first.
  ///
  /// Names that differ in case only are the same to a database.
  package var indexesToMake: [FetchIndexDescription] {
    // A uniqueness constraint is an index as well, and no fetch index may stand in its way.
    var taken = Set(
      constraintNames.map { "unique_\($0.joined(separator: "_"))".lowercased() })
    return indexes.filter { taken.insert($0.name.lowercased()).inserted }
  }
}

extension ManagedObjectModel {
  /// What stores do not make of the model though the model says it: a line for each fetch index
  /// that has the name of another one with different elements.
  package var indexRemarks: [String] {
    entities.flatMap { entity -> [String] in
      let made = entity.indexesToMake
      return entity.indexes.compactMap { index in
        let first = made.first { $0.name.lowercased() == index.name.lowercased() }
        if let first, first === index || first.makesSame(as: index) { return nil }
        return
          "\(entity.name ?? "?") has two indexes \(index.name) with different elements; "
          + "stores make the first. Rename one."
      }
    }
  }
}

extension FetchIndexDescription {
  fileprivate func makesSame(as other: FetchIndexDescription) -> Bool {
    func parts(_ index: FetchIndexDescription) -> [String] {
      index.elements.map {
        let computed = ($0.property as? ExpressionDescription)?.expression.map { "\($0)" }
        return "\(computed ?? $0.propertyName ?? "") \($0.collationType) \($0.isAscending)"
      } + [partialCondition(index)]
    }
    return parts(self) == parts(other)
  }

  private func partialCondition(_ index: FetchIndexDescription) -> String {
    index.partialIndexPredicate?.predicateFormat ?? ""
  }
}
