import CairnModel

/// Fetch requests kept in a model.
extension ManagedObjectModel {
  /// A new request from a template; nil when there is none of that name.
  public func fetchRequestTemplate(
    forName name: String
  ) -> FetchRequest<any FetchRequestResult>? {
    templatesByName[name].map { FetchRequest(template: $0) }
  }

  /// New requests from all templates, by name.
  public var fetchRequestTemplatesByName: [String: FetchRequest<any FetchRequestResult>] {
    templatesByName.mapValues { FetchRequest(template: $0) }
  }

  /// A new request from a template, with values for the `$variables` of its predicate; nil when
  /// there is none of that name.
  ///
  /// `NSNull` stands for nil. Which variables there are is up to the model's file, so one without a
  /// value is no trap as it is at Apple: executing the request throws.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> FetchRequest<any FetchRequestResult>? {
    let request = fetchRequestTemplate(forName: name)
    request?.predicate = request?.predicate?.withSubstitutionVariables(variables)
    return request
  }

  /// Keeps a copy of a request in the model; nil removes it.
  ///
  /// Traps when the model is in use, and for a request without an entity.
  public func setFetchRequestTemplate(_ request: AnyFetchRequest?, forName name: String) {
    guard let request else {
      templatesByName[name] = nil
      return
    }
    guard let entityName = request.entityName else {
      // A request that the program has made; Core Data raises here too. Readers of model files make templates without
      // this call, and throw.
      fatalError(
        "The fetch request template \"\(name)\" has no entity; make the request with "
          + "init(entityName:), or set its entity.")
    }
    templatesByName[name] = FetchRequestTemplate(request, entityName: entityName)
  }
}

extension FetchRequestTemplate {
  /// What a request asks for.
  fileprivate init(_ request: AnyFetchRequest, entityName: String) {
    self.init(entityName: entityName, predicate: request.predicate)
    sortDescriptors = request.sortDescriptors ?? []
    resultType = request.resultType.rawValue
    fetchLimit = request.fetchLimit
    fetchOffset = request.fetchOffset
    fetchBatchSize = request.fetchBatchSize
    includesSubentities = request.includesSubentities
    includesPendingChanges = request.includesPendingChanges
    includesPropertyValues = request.includesPropertyValues
    returnsObjectsAsFaults = request.returnsObjectsAsFaults
    objects.relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching
    objects.shouldRefreshRefetchedObjects = request.shouldRefreshRefetchedObjects
    dictionaries.propertiesToFetch = request.propertiesToFetch?.map { Column($0) }
    dictionaries.propertiesToGroupBy = request.propertiesToGroupBy?.map { Column($0) }
    dictionaries.havingPredicate = request.havingPredicate
    returnsDistinctResults = request.returnsDistinctResults
  }
}

extension FetchedPropertyDescription {
  /// The request whose results are the property's value; a copy, set it again to change it.
  ///
  /// `$FETCH_SOURCE` in its predicate is the owning object, `$FETCHED_PROPERTY` the property.
  public var fetchRequest: FetchRequest<any FetchRequestResult>? {
    get { template.map { FetchRequest(template: $0) } }
    set {
      template = newValue.flatMap { request in
        request.entityName.map { FetchRequestTemplate(request, entityName: $0) }
      }
    }
  }
}

extension EntityDescription {
  /// The entity of that name in the context's model, or its root's; nil when there is none.
  ///
  /// Traps for a context without a coordinator, as Core Data raises.
  public class func entity(
    forEntityName entityName: String, in context: ManagedObjectContext
  ) -> EntityDescription? {
    model(of: context, searchedFor: entityName).entitiesByName[entityName]
  }

  private class func model(
    of context: ManagedObjectContext, searchedFor name: String
  ) -> ManagedObjectModel {
    guard let coordinator = context.persistentStoreCoordinator else {
      // A context that the program has not set up; Core Data raises here too.
      fatalError(
        "+entityForName: nil is not a legal NSPersistentStoreCoordinator for searching for entity "
          + "name '\(name)'")
    }
    return coordinator.managedObjectModel
  }

  /// A new object of the entity of that name; traps when the model has none.
  @discardableResult
  public class func insertNewObject(
    forEntityName entityName: String, into context: ManagedObjectContext
  ) -> ManagedObject {
    let model = model(of: context, searchedFor: entityName)
    guard let entity = model.entitiesByName[entityName] else {
      // A name in the program's source: what has names from outside looks them up in
      // entitiesByName and calls insertObject(into:).
      fatalError(
        "+entityForName: could not find an entity named '\(entityName)' in this model.")
    }
    return entity.insertObject(into: context)
  }

  /// A new object of the entity, of the class that its model names; the entity is known and not
  /// abstract, so that no name is looked up.
  package func insertObject(into context: ManagedObjectContext) -> ManagedObject {
    let type =
      context.factory.carriesValuesOnly ? ManagedObject.self : ObjectClasses.type(for: self)
    return type.init(entity: self, insertInto: context)
  }
}

// Swift's generic classes cannot be cast to one another, so that what Core Data's method gives cannot
// become a request of the class afterwards.
extension FetchRequestResult where Self: ManagedObject {
  /// A request for the objects of ``ManagedObject/entity()``, for where one of their class is asked
  /// for.
  @_disfavoredOverload
  public static func fetchRequest() -> FetchRequest<Self> {
    let request = FetchRequest<Self>()
    request.entity = entity()
    return request
  }
}
