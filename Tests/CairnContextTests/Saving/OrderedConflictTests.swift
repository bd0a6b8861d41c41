// Members that two contexts add to one ordered relationship.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Chapter 12.2 with 8.3: of an ordered relationship that both sides changed, the members of both
/// are there, each in a place of its own.
@Suite struct OrderedConflictTests {
  enum Side: CaseIterable { case teacherHere, studentHere, teacherThere, studentThere }

  /// Both add a student to the same teacher, as a member of the list or by the student's own list.
  @Test(arguments: PolicyRuleTests.types.dropFirst(), Side.allCases)
  func additionsOfBothSidesHavePlacesOfTheirOwn(type: MergePolicyType, side: Side) throws {
    let elsewhere = side == .teacherThere || side == .studentThere
    let isByStudent = side == .studentHere || side == .studentThere
    let stack = try Stack(in: .sqlite, model: Workshop.model())
    try stack.use(policy: MergePolicy(merge: type)) { context in
      let teacher = context.make("Worker", ["name": "t"])
      context.make("Worker", ["name": "a"])
      try context.save()
      func add(_ student: ManagedObject, to teacher: ManagedObject) {
        let (object, key) = isByStudent ? (student, "teachers") : (teacher, "students")
        object.mutableOrderedSetValue(forKey: key).add(isByStudent ? teacher : student)
      }
      let mine = context.make("Worker", ["name": "b"])
      add(mine, to: teacher)
      let change: (ManagedObjectContext) throws -> Void = { other in
        let workers = try other.all("Worker", sortedBy: "name")
        add(workers[0], to: workers[1])
        try other.save()
      }
      if elsewhere { try stack.useElsewhere(change) } else { try stack.use(change) }
      try context.save()
      context.refreshAllObjects()
      let names = teacher.many("students").compactMap { $0.text("name") }.sorted()
      #expect(names == (type == .rollbackMergePolicyType ? ["a"] : ["a", "b"]))
      // The positions are checked when the stack goes.
    }
  }

  /// The row is read when the save needs it, after the members.
  @Test(arguments: PolicyRuleTests.types, [false, true])
  func anOrderThatIsOlderThanTheRowIsReadAgain(type: MergePolicyType, elsewhere: Bool) throws {
    let stack = try Stack(in: .sqlite, model: Workshop.model())
    try stack.use(policy: MergePolicy(merge: type)) { context in
      context.stalenessInterval = 0
      let teacher = context.make("Worker", ["name": "t"])
      context.make("Worker", ["name": "a"])
      try context.save()
      context.refresh(teacher, mergeChanges: false)
      let mine = context.make("Worker", ["name": "b"])
      mine.mutableOrderedSetValue(forKey: "teachers").add(teacher)
      #expect(teacher.isFault)
      let change: (ManagedObjectContext) throws -> Void = { other in
        let workers = try other.all("Worker", sortedBy: "name")
        workers[1].mutableOrderedSetValue(forKey: "students").add(workers[0])
        try other.save()
      }
      if elsewhere { try stack.useElsewhere(change) } else { try stack.use(change) }
      try context.save()
      let students = teacher.mutableOrderedSetValue(forKey: "students").members
      #expect(students.map { $0.text("name") } == ["a", "b"])
    }
  }

  /// A second save of the same context need not read what it has written itself.
  @Test func anOrderThatWasSavedIsNotReadAgain() throws {
    let stack = try CountingStack()
    try stack.use { context in
      let book = context.make("Book", ["title": "t"])
      let chapters = book.mutableOrderedSetValue(forKey: "chapters")
      chapters.add(context.make("Chapter"))
      try context.save()
      chapters.add(context.make("Chapter"))
      _ = stack.takeTraffic()
      try context.save()
      #expect(stack.takeTraffic() == StoreTraffic())
    }
  }
}
