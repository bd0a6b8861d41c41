import CairnModel

/// The model of the conformance suite: every attribute type, inheritance, and each kind of
/// relationship.
enum ConformanceModel {
  static func make() -> ManagedObjectModel {
    let person = EntityDescription(
      name: "Person",
      properties: [
        AttributeDescription(name: "name", type: .string),
        AttributeDescription(name: "code", type: .string),
        AttributeDescription(name: "age", type: .integer16),
        AttributeDescription(name: "count", type: .integer32),
        AttributeDescription(name: "big", type: .integer64),
        AttributeDescription(name: "rating", type: .double),
        AttributeDescription(name: "weight", type: .float),
        AttributeDescription(name: "price", type: .decimal),
        AttributeDescription(name: "active", type: .boolean),
        AttributeDescription(name: "born", type: .date),
        AttributeDescription(name: "bytes", type: .binaryData),
        AttributeDescription(name: "token", type: .uuid),
        AttributeDescription(name: "page", type: .uri),
      ])
    person.uniquenessConstraints = [["code"]]
    let employee = EntityDescription(
      name: "Employee", properties: [AttributeDescription(name: "salary", type: .integer64)])
    person.subentities = [employee]
    let company = EntityDescription(
      name: "Company", properties: [AttributeDescription(name: "name", type: .string)])
    let step = EntityDescription(
      name: "Step", properties: [AttributeDescription(name: "title", type: .string)])
    let note = EntityDescription(
      name: "Note", properties: [AttributeDescription(name: "text", type: .string)])

    let personCompany = relationship("company", to: company, isToMany: false)
    let companyPeople = relationship("people", to: person)
    connect(personCompany, companyPeople)
    let friends = relationship("friends", to: person)
    let friendOf = relationship("friendOf", to: person)
    connect(friends, friendOf)
    let notes = relationship("notes", to: note)
    person.properties += [personCompany, friends, friendOf, notes]

    let companySteps = relationship("steps", to: step, isOrdered: true)
    let stepCompany = relationship("company", to: company, isToMany: false)
    connect(companySteps, stepCompany)
    let chapters = relationship("chapters", to: note, isOrdered: true)
    let usedIn = relationship("usedIn", to: company)
    connect(chapters, usedIn)
    company.properties += [companyPeople, companySteps, chapters]
    step.properties += [stepCompany]
    note.properties += [usedIn]

    let model = ManagedObjectModel()
    model.entities = [person, employee, company, step, note] + folders()
    return model
  }

  /// Entities whose relationships have each delete rule.
  private static func folders() -> [EntityDescription] {
    let (folder, file) = (EntityDescription(name: "Folder"), EntityDescription(name: "File"))
    let (cover, pin) = (EntityDescription(name: "Cover"), EntityDescription(name: "Pin"))
    let (files, inFolder) = (
      relationship("files", to: file), relationship("folder", to: folder, isToMany: false)
    )
    let (hasCover, covers) = (
      relationship("cover", to: cover, isToMany: false),
      relationship("file", to: file, isToMany: false)
    )
    let (pins, pinned) = (
      relationship("pins", to: pin), relationship("folder", to: folder, isToMany: false)
    )
    for (a, b, rule) in [
      (files, inFolder, DeleteRule.cascade), (hasCover, covers, .cascade), (pins, pinned, .deny),
    ] {
      connect(a, b)
      a.deleteRule = rule
    }
    folder.properties = [AttributeDescription(name: "name", type: .string), files, pins]
    file.properties = [AttributeDescription(name: "name", type: .string), inFolder, hasCover]
    cover.properties = [covers]
    pin.properties = [pinned]
    return [folder, file, cover, pin]
  }

  private static func relationship(
    _ name: String, to destination: EntityDescription, isToMany: Bool = true,
    isOrdered: Bool = false
  ) -> RelationshipDescription {
    let relationship = RelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = isToMany ? 0 : 1
    relationship.isOrdered = isOrdered
    return relationship
  }

  private static func connect(_ a: RelationshipDescription, _ b: RelationshipDescription) {
    a.inverseRelationship = b
    b.inverseRelationship = a
  }
}
