// Fetch requests kept in models.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapters 3.2 and 3.7 of the specification.
@Suite struct TemplateTests {
  private func model() -> ManagedObjectModel {
    let model = Workshop.model()
    let request = FetchRequest<any FetchRequestResult>(entityName: "Piece")
    request.predicate = ObjectPredicate(format: "title == $TITLE")
    request.fetchLimit = 3
    model.setFetchRequestTemplate(request, forName: "byTitle")
    return model
  }

  @Test func aTemplateIsCopiedIntoAndOutOfTheModel() {
    let model = model()
    model.fetchRequestTemplate(forName: "byTitle")?.fetchLimit = 9
    #expect(model.fetchRequestTemplate(forName: "byTitle")?.fetchLimit == 3)
    #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["byTitle"])
    model.setFetchRequestTemplate(nil, forName: "byTitle")
    #expect(model.fetchRequestTemplate(forName: "byTitle") == nil)
  }

  @Test func variablesAreReplacedAndNullStandsForNil() throws {
    try WorkshopStack(model: model()).use { context in
      let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
      context.make("Piece", ["title": "axe"])
      context.make("Piece")
      for (value, count) in [("axe" as Any, 1), ("saw", 0), (NSNull(), 1)] {
        let request = try #require(
          model.fetchRequestFromTemplate(
            withName: "byTitle", substitutionVariables: ["TITLE": value]))
        #expect(try context.fetch(request).count == count)
      }
      #expect(
        model.fetchRequestFromTemplate(withName: "other", substitutionVariables: [:]) == nil)
    }
  }

  @Test func aVariableWithoutAValueFailsTheFetch() throws {
    try WorkshopStack(model: model()).use { context in
      let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
      context.make("Piece", ["title": "axe"])
      let request = try #require(
        model.fetchRequestFromTemplate(withName: "byTitle", substitutionVariables: [:]))
      let error = #expect(throws: (any Error).self) { try context.fetch(request) }
      #expect("\(error as Any)".contains("TITLE"), "\(error as Any)")
    }
  }

  @Test func aTemplateWithoutAnEntityTraps() async {
    await #expect(processExitsWith: .failure) {
      ManagedObjectModel().setFetchRequestTemplate(
        FetchRequest<any FetchRequestResult>(), forName: "all")
    }
  }

  @Test func aTemplateKeepsEverythingThatARequestAsksFor() throws {
    let request = FetchRequest<any FetchRequestResult>(entityName: "Piece")
    let heaviest = ExpressionDescription()
    heaviest.name = "heaviest"
    heaviest.expression = try ObjectExpression.parse("max:(weight)")
    heaviest.expressionResultType = .double
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["title", heaviest]
    request.propertiesToGroupBy = ["title"]
    request.havingPredicate = ObjectPredicate(format: "max:(weight) > 2")
    request.relationshipKeyPathsForPrefetching = ["maker"]
    request.shouldRefreshRefetchedObjects = true
    request.returnsDistinctResults = true
    request.includesPropertyValues = false
    request.returnsObjectsAsFaults = false
    let model = Workshop.model()
    model.setFetchRequestTemplate(request, forName: "heaviest")
    heaviest.name = "changed later"
    let property = FetchedPropertyDescription()
    property.fetchRequest = request
    let template = try #require(model.fetchRequestTemplate(forName: "heaviest"))
    for copy in [template, try #require(property.fetchRequest)] {
      #expect(copy.propertiesToFetch?.first as? String == "title")
      #expect(copy.propertiesToGroupBy as? [String] == ["title"])
      #expect(copy.havingPredicate == request.havingPredicate)
      #expect(copy.relationshipKeyPathsForPrefetching == ["maker"])
      #expect(copy.shouldRefreshRefetchedObjects && copy.returnsDistinctResults)
      #expect(!copy.includesPropertyValues && !copy.returnsObjectsAsFaults)
    }
    try WorkshopStack(model: model).use { context in
      for (title, weight) in [("axe", 1.0), ("axe", 3), ("saw", 2)] {
        context.make("Piece", ["title": title, "weight": weight])
      }
      try context.save()
      let rows = try context.fetch(template) as [any FetchRequestResult]
      #expect(rows.count == 1)
      #expect((rows.first as? NSDictionary)?["heaviest"] as? Double == 3)
    }
  }

  @Test func aFetchedPropertysRequestIsReadAndSetAsARequest() throws {
    let property = FetchedPropertyDescription()
    #expect(property.fetchRequest == nil)
    let request = FetchRequest<any FetchRequestResult>(entityName: "Piece")
    request.predicate = ObjectPredicate(format: "maker == $FETCH_SOURCE")
    request.sortDescriptors = [ObjectSortDescriptor(key: "title", ascending: false)]
    property.fetchRequest = request
    #expect(property.fetchRequest?.entityName == "Piece")
    #expect(property.fetchRequest?.predicate == request.predicate)
    #expect(property.fetchRequest?.sortDescriptors == request.sortDescriptors)
  }
}
