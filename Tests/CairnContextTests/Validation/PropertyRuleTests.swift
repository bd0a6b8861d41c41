// One rule of a model at a time.
import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation
import Testing

/// Chapter 10.2 and 10.3 of the specification.
@Suite struct PropertyRuleTests {
  /// A model with one entity, Run, whose properties are made by `properties`.
  private func model(_ properties: PropertyDescription...) -> ManagedObjectModel {
    let model = ManagedObjectModel()
    model.entities = [EntityDescription(name: "Run", properties: properties)]
    return model
  }

  private func attribute(
    _ name: String, _ type: AttributeType, _ format: String, _ warning: Any
  ) -> AttributeDescription {
    let attribute = AttributeDescription(name: name, type: type)
    attribute.setValidationPredicates(
      [ObjectPredicate(format: format)], withValidationWarnings: [warning])
    return attribute
  }

  /// The error that saving a run with these values gives.
  private func error(
    _ model: ManagedObjectModel, _ values: [String: Any?]
  ) throws -> CoreDataError? {
    try WorkshopStack(model: model).use { context in
      context.make("Run", values)
      do { try context.save() } catch { return error as? CoreDataError }
      return nil
    }
  }

  @Test(arguments: [
    ("SELF >= 5", 1620, 4, "value is too small."), ("SELF <= 5", 1610, 6, "value is too large."),
  ])
  func boundsOfNumbers(format: String, code: Int, bad: Int, text: String) throws {
    let rule = attribute("value", .integer32, format, code)
    let error = try error(model(rule), ["value": bad])
    #expect(error?.code.rawValue == code && error?.message == text)
    #expect(error?.userInfo["NSValidationErrorValue"] as? Int == bad)
  }

  @Test func aValueOfTheWrongClassIsNotValid() throws {
    try Stack().use { context in
      let book = context.make("Book")
      let (author, tag) = (context.make("Author"), context.make("Tag"))
      let wrong: [(String, Any)] = [
        ("title", 3), ("pages", "many"), ("author", "Ada"), ("author", tag), ("tags", tag),
        ("tags", Set([author])), ("chapters", Set<ManagedObject>()),
      ]
      for (key, value) in wrong {
        var given: Any? = value
        let error = #expect(throws: CoreDataError.self, "\(key)") {
          try book.validateValue(&given, forKey: key)
        }
        #expect(error?.code == .managedObjectValidation)
        #expect(error?.userInfo["NSValidationErrorKey"] as? String == key)
      }
      let right: [(String, Any)] = [
        ("title", "t"), ("pages", 3), ("author", author), ("tags", Set([tag])),
        ("tags", NSSet(array: [tag])), ("chapters", NSOrderedSet()),
      ]
      for (key, value) in right {
        var given: Any? = value
        try book.validateValue(&given, forKey: key)
      }
    }
  }

  @Test func aNumberOnTheBoundPasses() throws {
    #expect(try error(model(attribute("v", .double, "SELF >= 5", 1620)), ["v": 5.0]) == nil)
  }

  @Test(arguments: [
    ("timeIntervalSinceReferenceDate >= 100", 1640, 99.0),
    ("timeIntervalSinceReferenceDate <= 100", 1630, 101),
  ])
  func boundsOfDates(format: String, code: Int, bad: Double) throws {
    let rule = attribute("day", .date, format, code)
    let date = Date(timeIntervalSinceReferenceDate: bad)
    #expect(try error(model(rule), ["day": date])?.code.rawValue == code)
    let good = Date(timeIntervalSinceReferenceDate: 100)
    #expect(
      try error(model(attribute("day", .date, format, code)), ["day": good]) == nil)
  }

  @Test(arguments: [
    ("length >= 3", 1670, "ab", "abc"), ("length <= 3", 1660, "abcd", "abc"),
    ("SELF MATCHES \"[A-Z][a-z]+\"", 1680, "xAda", "Ada"),
  ])
  func rulesOfStrings(format: String, code: Int, bad: String, good: String) throws {
    let rule = { attribute("text", .string, format, code) }
    #expect(try error(model(rule()), ["text": bad])?.code.rawValue == code)
    #expect(try error(model(rule()), ["text": good]) == nil)
    #expect(try error(model(rule()), ["text": nil]) == nil, "nil is optional's business")
  }

  @Test func aTextAsWarningIsLocalisedAndHasTheGeneralCode() throws {
    let model = model(attribute("processID", .integer32, "SELF > 0", "Process ID < 1"))
    model.localizationDictionary = ["ErrorString/Process ID < 1": "Die Nummer ist zu klein."]
    let error = try error(model, ["processID": -1])
    #expect(error?.code == .managedObjectValidation)
    #expect(error?.message == "Die Nummer ist zu klein.")
    #expect(error?.userInfo["NSValidationErrorPredicate"] is ObjectPredicate)
  }

  @Test func messagesNameThePropertyAsTheModelLocalisesIt() throws {
    let date = AttributeDescription(name: "date", type: .date, isOptional: false)
    let model = model(date)
    model.localizationDictionary = ["Property/date/Entity/Run": "Datum", "Property/date": "Tag"]
    #expect(try error(model, ["date": nil])?.message == "Datum is a required value.")
  }

  @Test func theFirstPredicateThatFailsIsReported() throws {
    let value = AttributeDescription(name: "value", type: .integer32)
    value.setValidationPredicates(
      [ObjectPredicate(format: "SELF > 10"), ObjectPredicate(format: "SELF > 20")],
      withValidationWarnings: ["first", "second"])
    #expect(try error(model(value), ["value": 1])?.message == "first")
  }

  // MARK: Counts

  private func team(_ change: (RelationshipDescription) -> Void) -> ManagedObjectModel {
    let (team, player) = (EntityDescription(name: "Run"), EntityDescription(name: "Player"))
    let (players, owner) = (Workshop.toMany("players"), Workshop.toOne("team"))
    Workshop.link(players, to: player, owner, to: team)
    change(players)
    team.properties = [players]
    player.properties = [owner]
    let model = ManagedObjectModel()
    model.entities = [team, player]
    return model
  }

  private func errorOfTeam(
    of count: Int, _ change: (RelationshipDescription) -> Void
  ) throws -> CoreDataError? {
    try WorkshopStack(model: team(change)).use { context in
      let run = context.make("Run")
      for _ in 0..<count { context.make("Player", ["team": run]) }
      do { try context.save() } catch { return error as? CoreDataError }
      return nil
    }
  }

  @Test func countsOfMembersHaveBounds() throws {
    let bounds: (RelationshipDescription) -> Void = { ($0.minCount, $0.maxCount) = (2, 3) }
    #expect(
      try errorOfTeam(of: 1, bounds)?.code == .validationRelationshipLacksMinimumCount)
    #expect(
      try errorOfTeam(of: 4, bounds)?.code == .validationRelationshipExceedsMaximumCount)
    #expect(try errorOfTeam(of: 2, bounds) == nil)
  }

  @Test func anOptionalEmptyRelationshipPassesWhateverTheMinimum() throws {
    #expect(try errorOfTeam(of: 0) { $0.minCount = 2 } == nil)
    #expect(
      try errorOfTeam(of: 0) { ($0.isOptional, $0.minCount) = (false, 1) }?.code
        == .validationRelationshipLacksMinimumCount)
  }

  @Test(arguments: [0, 4])
  func aRequiredRelationshipToManyWithoutASmallestCountMayBeEmpty(maximum: Int) throws {
    #expect(try errorOfTeam(of: 0) { ($0.isOptional, $0.maxCount) = (false, maximum) } == nil)
    try WorkshopStack(model: team { ($0.isOptional, $0.maxCount) = (false, maximum) }).use {
      context in
      let run = context.make("Run")
      let player = context.make("Player", ["team": run])
      try context.save()
      context.delete(player)
      try context.save()
      var none: Any? = Set<ManagedObject>()
      try run.validateValue(&none, forKey: "players")
      none = nil
      try run.validateValue(&none, forKey: "players")
    }
  }

  @Test func theMembersOfAMutableSetAreCounted() throws {
    try WorkshopStack(model: team { ($0.minCount, $0.maxCount) = (1, 2) }).use { context in
      let run = context.make("Run")
      for _ in 0..<3 { context.make("Player", ["team": run]) }
      var value: Any? = run.mutableSetValue(forKey: "players")
      let error = #expect(throws: CoreDataError.self) {
        try run.validateValue(&value, forKey: "players")
      }
      #expect(error?.code == .validationRelationshipExceedsMaximumCount)
    }
  }

  // MARK: Composite, undefined and derived

  @Test func elementsAndWholeOfACompositeAreValidated() throws {
    func composite() -> CompositeAttributeDescription {
      let size = CompositeAttributeDescription()
      size.name = "area"
      size.elements = [attribute("height", .double, "SELF > 0", 1620)]
      size.isOptional = false
      return size
    }
    let element = try error(model(composite()), ["area": ["height": -1.0]])
    #expect(element?.userInfo["NSValidationErrorKey"] as? String == "area.height")
    let whole = try error(model(composite()), ["area": nil])
    #expect(whole?.code == .validationMissingMandatoryProperty)
    #expect(whole?.userInfo["NSValidationErrorKey"] as? String == "area")
    #expect(try error(model(composite()), ["area": ["height": 1.0]]) == nil)
  }

  @Test func aMandatoryElementIsRequiredWhereItsOptionalCompositeHasAValue() throws {
    func composite() -> CompositeAttributeDescription {
      let geo = CompositeAttributeDescription()
      geo.name = "geo"
      geo.elements = [
        AttributeDescription(name: "lat", type: .double, isOptional: false),
        AttributeDescription(name: "lon", type: .double),
      ]
      return geo
    }
    #expect(try error(model(composite()), [:]) == nil)
    let missing = try error(model(composite()), ["geo": ["lon": 1.0]])
    #expect(missing?.code == .validationMissingMandatoryProperty)
    #expect(missing?.message == "geo.lat is a required value.")
    #expect(missing?.userInfo["NSValidationErrorKey"] as? String == "geo.lat")
    #expect(try error(model(composite()), ["geo": ["lat": 1.0]]) == nil)
  }

  @Test func aMandatoryValueOfUndefinedTypeIsRequired() throws {
    let scratch = AttributeDescription(name: "scratch", type: .undefined, isOptional: false)
    scratch.isTransient = true
    #expect(
      try error(model(scratch), [:])?.code == .validationMissingMandatoryProperty)
  }

  @Test func aMandatoryDerivedAttributeFailsTheInsertion() throws {
    let derived = DerivedAttributeDescription()
    derived.name = "upper"
    derived.attributeType = .string
    derived.isOptional = false
    derived.derivationExpression = ObjectExpression(format: "uppercase:(name)")
    let model = model(AttributeDescription(name: "name", type: .string), derived)
    #expect(try error(model, ["name": "a"])?.code == .validationMissingMandatoryProperty)
  }

  @Test func listsOfDifferentLengthTrap() async {
    await #expect(processExitsWith: .failure) {
      AttributeDescription(name: "a", type: .string).setValidationPredicates(
        [ObjectPredicate(value: true)], withValidationWarnings: [])
    }
  }
}
