import CairnModel

/// Fetch requests kept in a model.
extension ManagedObjectModel {
  /// A new request from a template; nil when there is none of that name.
  public func fetchRequestTemplate(
    forName name: String
  ) -> FetchRequest<any FetchRequestResult>? {
    templatesByName[name].map { FetchRequest(template: $0) }
  }

  /// A new request from a template, with values for the `$variables` of its predicate.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> FetchRequest<any FetchRequestResult>? {
    let request = fetchRequestTemplate(forName: name)
    request?.predicate = request?.predicate?.withSubstitutionVariables(variables)
    return request
  }

  /// Keeps a copy of a request in the model; traps when the model is in use.
  public func setFetchRequestTemplate(_ request: AnyFetchRequest?, forName name: String) {
    guard let request, let entityName = request.entityName else {
      templatesByName[name] = nil
      return
    }
    var template = FetchRequestTemplate(entityName: entityName, predicate: request.predicate)
    template.sortDescriptors = request.sortDescriptors ?? []
    template.resultType = request.resultType.rawValue
    template.fetchLimit = request.fetchLimit
    template.fetchOffset = request.fetchOffset
    template.fetchBatchSize = request.fetchBatchSize
    template.includesSubentities = request.includesSubentities
    template.includesPropertyValues = request.includesPropertyValues
    template.returnsObjectsAsFaults = request.returnsObjectsAsFaults
    template.includesPendingChanges = request.includesPendingChanges
    template.returnsDistinctResults = request.returnsDistinctResults
    templatesByName[name] = template
  }
}

extension EntityDescription {
  /// The entity of that name in the context's model, nil when there is none.
  public class func entity(
    forEntityName entityName: String, in context: ManagedObjectContext
  ) -> EntityDescription? {
    context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entityName]
  }

  /// A new object of the entity of that name; traps when the model has none.
  public class func insertNewObject(
    forEntityName entityName: String, into context: ManagedObjectContext
  ) -> ManagedObject {
    guard let entity = context.requiredModel.entitiesByName[entityName] else {
      // A name in the program's source; names from outside are looked up in entitiesByName.
      fatalError(
        "+entityForName: could not find an entity named '\(entityName)' in this model.")
    }
    return ObjectClasses.type(for: entity).init(entity: entity, insertInto: context)
  }
}

extension ManagedObject {
  /// The one entity whose objects have this class, in the model that was put to use last.
  ///
  /// Traps when there is none or more than one.
  public class func entity() -> EntityDescription { ObjectClasses.entity(of: self) }

  /// A request for the objects of ``entity()``.
  public class func fetchRequest() -> FetchRequest<any FetchRequestResult> {
    let request = FetchRequest<any FetchRequestResult>()
    request.entity = entity()
    return request
  }
}
