import CairnModel

/// Reads a fetched property: runs its request once, with the owner as `$FETCH_SOURCE`, and keeps
/// the result until the owner becomes a fault.
struct FetchedPropertyReading {
  let object: ManagedObject

  func value(forKey key: String) -> [ManagedObject] {
    if let known = object.looseValue(key) as? [ManagedObject] { return known }
    guard let property = object.layout.fetchedProperties[key], let template = property.template,
      let context = object.managedObjectContext
    else { return [] }
    let request = FetchRequest<ManagedObject>(template: template)
    request.resultType = .managedObjectResultType
    request.predicate = template.predicate?.withSubstitutionVariables([
      "FETCH_SOURCE": object, "FETCHED_PROPERTY": property,
    ])
    let found: [ManagedObject]
    do {
      found = try context.fetch(request)
    } catch {
      // A property read cannot throw; the next save reports that something could not be read.
      context.nextSave.readFailure = error
      return []
    }
    object.setLooseValue(found, key)
    return found
  }
}
