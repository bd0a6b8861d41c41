// Names of a model and constants of a predicate are never read as SQL, whatever is in them.

import CairnContext
import CairnCoordinator
import CairnModel
import CairnPredicates
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct HardNamesTests {
  static let texts = [
    "'", "''", "\"", "\\", "\\'", "'; DROP SCHEMA public; --", "$1", "?", "??", "{a,b}", "{\"a\"}",
    "NULL", "null", "a\0b", "\0", "\u{1}", "\u{1}\u{2}", "\u{2}", "%", "_", "*", "\n", "\r\n", "\t",
    "E'\\x41'", "U&'\\0041'", "\u{FEFF}", "\u{10FFFF}", "\u{FFFF}", "/* */", "select", "user",
    String(repeating: "x", count: 100), String(repeating: "\u{e9}\"", count: 64), "(", "[a-z]",
    "^$",
    "\\u0001", "''?''", "a?b'c\"d\\e", " ", "",
  ]

  private static let names = [
    "select", "user", "table", "we\"ird", "quo'te", "back\\slash", "semi;colon -- x", "ques?tion",
    "dollar$1", "\u{e9}\u{df}\u{4e2d}", "emoji\u{1F41F}", "UPPER", "with space",
    "cairn_id", "xmin", String(repeating: "long", count: 30), String(repeating: "long", count: 31),
  ]

  private static func context(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
    let server = try PostgreSQLServer.shared
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, storeKinds: [PostgreSQLStoreKind()])
    try coordinator.addPersistentStore(
      ofType: PostgreSQLStore.typeName, configurationName: nil,
      at: server.storeURL(server.newName("wei\"rd ' schema")), options: nil)
    let context = ManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func constantsAreFoundAsTheyAre() throws {
    let item = EntityDescription(
      name: "Item",
      properties: [
        AttributeDescription(name: "s", type: .string),
        AttributeDescription(name: "n", type: .integer64),
      ])
    let model = ManagedObjectModel()
    model.entities = [item]
    let context = try Self.context(model)
    try context.performAndWait {
      for (index, text) in Self.texts.enumerated() {
        let object = EntityDescription.insertNewObject(forEntityName: "Item", into: context)
        object.setValue(text, forKey: "s")
        object.setValue(index, forKey: "n")
      }
      try context.save()
      context.reset()
      let operators = [
        "==", "!=", "<", ">=", "==[c]", "BEGINSWITH", "ENDSWITH", "CONTAINS", "CONTAINS[cd]",
        "LIKE",
        "LIKE[c]",
      ]
      for text in Self.texts {
        for operation in operators {
          try compare("s \(operation) %@", [text], in: context)
        }
        try compare("%@ IN s", [text], in: context)
        try compare("s IN %@", [[text, "no such"]], in: context)
        try compare("s IN[c] %@", [[text, "x"]], in: context)
        try compare("TERNARY(n > 5, s, %@) == %@", [text, text], in: context)
      }
    }
  }

  /// Compares what a predicate finds with what it says of the objects.
  private func compare(
    _ format: String, _ arguments: [Any], in context: ManagedObjectContext
  ) throws {
    let predicate = try ObjectPredicate.parse(format, arguments: arguments)
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.sortDescriptors = [ObjectSortDescriptor(key: "n", ascending: true)]
    func numbers(_ objects: [ManagedObject]) -> [Int] {
      objects.map { $0.value(forKey: "n") as? Int ?? -1 }
    }
    let all = try context.fetch(request)
    request.predicate = predicate
    let found = numbers(try context.fetch(request))
    let expected = numbers(try all.filter { try predicate.test($0) })
    #expect(found == expected, "\(predicate)")
  }

  @Test func namesAreWhatTheyAre() throws {
    let entities = Self.names.map { name in
      EntityDescription(
        name: name, properties: Self.names.map { AttributeDescription(name: $0, type: .string) })
    }
    for (index, entity) in entities.enumerated() {
      let (next, back) = (RelationshipDescription(), RelationshipDescription())
      let destination = entities[(index + 1) % entities.count]
      (next.name, back.name) = ("next\(Self.names[index])", "back\(Self.names[index])")
      (next.destinationEntity, back.destinationEntity) = (destination, entity)
      (next.maxCount, back.maxCount) = (1, 0)
      (next.inverseRelationship, back.inverseRelationship) = (back, next)
      entity.properties += [next]
      destination.properties += [back]
    }
    let model = ManagedObjectModel()
    model.entities = entities
    let context = try Self.context(model)
    try context.performAndWait {
      let objects = Self.names.map { name in
        let object = EntityDescription.insertNewObject(forEntityName: name, into: context)
        for key in Self.names { object.setValue("\(name)/\(key)", forKey: key) }
        return object
      }
      for (index, object) in objects.enumerated() {
        object.setValue(objects[(index + 1) % objects.count], forKey: "next\(Self.names[index])")
      }
      try context.save()
      context.reset()
      for (index, name) in Self.names.enumerated() {
        let next = Self.names[(index + 1) % Self.names.count]
        let request = FetchRequest<ManagedObject>(entityName: name)
        let parts = Self.names.map { key in
          ComparisonPredicate(
            leftExpression: ObjectExpression(forKeyPath: key),
            rightExpression: ObjectExpression(forConstantValue: "\(name)/\(key)"),
            modifier: .direct, type: .equalTo)
        }
        let there = ComparisonPredicate(
          leftExpression: ObjectExpression(forKeyPath: "next\(name).\(next)"),
          rightExpression: ObjectExpression(forConstantValue: "\(next)/\(next)"),
          modifier: .direct, type: .equalTo)
        request.predicate = CompoundPredicate(andPredicateWithSubpredicates: parts + [there])
        request.sortDescriptors = Self.names.map { ObjectSortDescriptor(key: $0, ascending: true) }
        #expect(try context.count(for: request) == 1, "\(name)")
        #expect(try context.fetch(request).count == 1, "\(name)")
      }
    }
  }
}
