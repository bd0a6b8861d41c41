import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import CairnTesting
import Foundation
import GRDB
import Testing
import TestSupport

@testable import CairnSync

/// Records that are no more than their rows are taken up, decided and written many at a time, and it comes to what
/// it comes to one by one.
struct NewRowTests {
  /// Entries in folders; nothing that needs a look at each.
  static func model() -> ManagedObjectModel {
    let folder = EntityDescription(name: "Folder")
    let entry = EntityDescription(name: "Entry")
    let entries = relationship("entries", to: entry, isToMany: true)
    let place = relationship("folder", to: folder)
    connect(entries, place)
    let text = AttributeDescription(name: "text", type: .string)
    text.setValidationPredicates(
      [ObjectPredicate(format: "length < 100")], withValidationWarnings: ["too long"])
    folder.properties = [AttributeDescription(name: "key", type: .string), entries]
    entry.properties = [
      AttributeDescription(name: "key", type: .string), text,
      AttributeDescription(name: "size", type: .integer64), place,
    ]
    let label = EntityDescription(name: "Label")
    label.properties = [
      AttributeDescription(name: "key", type: .string),
      AttributeDescription(name: "size", type: .integer64),
    ]
    label.uniquenessConstraints = [["key"]]
    let model = ManagedObjectModel()
    model.entities = [folder, entry, label]
    return model
  }

  /// Six, or as many as `CAIRN_NEW_ROW_SEEDS` says.
  private static let seeds: [UInt64] = {
    let count = ProcessInfo.processInfo.environment["CAIRN_NEW_ROW_SEEDS"].flatMap(UInt64.init)
    return Array(1...max(1, count ?? 6))
  }()

  private static func fleet(_ seed: UInt64, in scratch: Scratch?, _ names: [String]) throws -> (
    fleet: Fleet, sites: [Fleet.Site]
  ) {
    let fleet = Fleet(seed: seed, directory: scratch?.url, model: model())
    return (fleet, try names.map { name in try fleet.add(name) { $0.batchSize = 40 } })
  }

  private static func picture(_ site: Fleet.Site) throws -> [String] {
    try site.write { context in
      try site.all("Folder", in: context).map { "folder \($0.value(forKey: "key") ?? "")" }
        + site.all("Label", in: context).map { label in
          "label \(label.value(forKey: "key") ?? "") \(label.value(forKey: "size") ?? "-")"
        }
        + site.all("Entry", in: context).map { entry in
          let folder = entry.value(forKey: "folder") as? ManagedObject
          return "entry \(entry.value(forKey: "key") ?? "") \(entry.value(forKey: "text") ?? "-") "
            + "\(entry.value(forKey: "size") ?? "-") in \(folder?.value(forKey: "key") ?? "-")"
        }
    }
  }

  private static func insert(
    _ count: Int, _ start: Int, into site: Fleet.Site, folders: Int = 0
  ) throws {
    try site.write { context in
      for number in 0..<folders {
        _ = try site.insert("Folder", ["key": "\(site.name)f\(start + number)"], in: context)
      }
      let places = try site.all("Folder", in: context)
      for number in 0..<count {
        let entry = try site.insert(
          "Entry", ["key": "\(site.name)\(start + number)", "size": Int64(number)], in: context)
        if number % 3 > 0, !places.isEmpty {
          entry.setValue(places[number % places.count], forKey: "folder")
        }
      }
    }
  }

  /// Labels that this site has not; others may have them.
  private static func insertLabels(_ numbers: Range<Int>, into site: Fleet.Site) throws {
    try site.write { context in
      let there = Set(
        try site.all("Label", in: context).compactMap { $0.value(forKey: "key") as? String })
      for number in numbers where !there.contains("l\(number)") {
        _ = try site.insert("Label", ["key": "l\(number)", "size": Int64(number)], in: context)
      }
    }
  }

  private static func disturb(_ site: Fleet.Site, _ random: inout SeededGenerator) throws {
    var chance = random
    try site.write { context in
      let entries = try site.all("Entry", in: context)
      let folders = try site.all("Folder", in: context)
      let label = chance.pick(try site.all("Label", in: context))
      if chance.chance(30) {
        label.map(context.delete)
      } else {
        label?.setValue(Int64(chance.next() % 1000), forKey: "size")
      }
      for _ in 0..<4 {
        let entry = chance.pick(entries)
        switch Int.random(in: 0..<6, using: &chance) {
        case 0, 1: entry?.setValue("t\(chance.next() % 1000)", forKey: "text")
        case 2: entry?.setValue(chance.pick(folders), forKey: "folder")
        case 3: entry.map(context.delete)
        case 4: if chance.chance(30) { chance.pick(folders).map(context.delete) }
        default: entry?.setValue(Int64(chance.next() % 1000), forKey: "size")
        }
        context.processPendingChanges()
      }
    }
    random = chance
  }

  @Test(arguments: seeds, [false, true])
  func afterAnyWorkAllStoresHaveTheSame(seed: UInt64, onFiles: Bool) throws {
    let scratch = onFiles ? try Scratch() : nil
    let (fleet, sites) = try Self.fleet(seed, in: scratch, ["a", "b", "hub"])
    let links = [(sites[0], sites[2]), (sites[1], sites[2])]
    var random = SeededGenerator(seed: seed)
    for step in 0..<30 {
      fleet.advance(UInt64.random(in: 0...20, using: &random))
      let site = sites[Int.random(in: 0..<3, using: &random)]
      switch Int.random(in: 0..<7, using: &random) {
      case 0:
        try Self.insert(
          Int.random(in: 10...70, using: &random), step * 100, into: site, folders: step % 4)
      case 6:
        let first = Int.random(in: 0..<200, using: &random)
        try Self.insertLabels(first..<first + 40, into: site)
      case 1, 2: try Self.disturb(site, &random)
      case 3: try HistoryCapture(access: site.access).run()
      default:
        let link = links[Int.random(in: 0..<2, using: &random)]
        fleet.crash(percent: seed % 2 == 0 ? 10 : 0)
        try fleet.pass(link.0, link.1)
        fleet.crash(percent: 0)
      }
    }
    #expect(try fleet.settle(links) < 40)
    let expected = try Self.picture(sites[2])
    #expect(!expected.isEmpty)
    for site in sites {
      #expect(try Self.picture(site) == expected, "seed \(seed): \(site.name)")
      #expect(try !DigestBuild(access: site.access).audit(), "seed \(seed): \(site.name)")
    }
    for (local, replica) in links {
      #expect(
        try StoreComparison(local: local.access, replica: replica.access).run(name: "").isEqual)
    }
  }

  @Test func whatOneCaptureInsertsUpdatesAndDeletesIsTakenUpInThatOrder() throws {
    let scratch = try Scratch()
    let (fleet, sites) = try Self.fleet(9, in: scratch, ["a", "hub"])
    let (a, hub) = (sites[0], sites[1])
    try Self.insert(40, 0, into: a)
    fleet.advance(10)
    try a.write { context in
      try #require(try a.find("Entry", "a7", in: context)).setValue("later", forKey: "text")
      context.delete(try #require(try a.find("Entry", "a8", in: context)))
    }
    fleet.advance(10)
    try Self.insert(40, 100, into: a)
    _ = try fleet.pass(a, hub)
    #expect(try Self.picture(a) == Self.picture(hub))
    let states = try a.access.states()
    #expect(states.count == 79, "what came and went is unknown")
    let later = states.filter { $0.registers["text"]?.value == .string("later") }
    #expect(later.count == 1)
    #expect(later[0].registers["text"]?.write.stamp != later[0].registers["key"]?.write.stamp)
    #expect(try !DigestBuild(access: a.access).audit())
  }

  @Test func aCommitThatComesInBetweenGetsTheEarlierPlace() throws {
    let scratch = try Scratch()
    let (fleet, sites) = try Self.fleet(9, in: scratch, ["a", "hub"])
    let (a, hub) = (sites[0], sites[1])
    try Self.insert(40, 0, into: a, folders: 2)
    fleet.interrupt(hub, at: .beforeImportCommit) {
      try Self.insert(30, 0, into: hub)
      try HistoryCapture(access: hub.access).run()
    }
    _ = try fleet.pass(a, hub)
    #expect(fleet.wasInterrupted)
    #expect(try fleet.settle([(a, hub)]) < 40)
    #expect(try Self.picture(a).count == 72)
    #expect(try Self.picture(a) == Self.picture(hub))
    #expect(try StoreComparison(local: a.access, replica: hub.access).run(name: "").isEqual)
  }

  @Test(arguments: [SyncEnvironment.Failpoint.afterPlan, .beforeImportCommit])
  func aValueThatAProgramTakesMeanwhileIsOfOneRecord(_ step: SyncEnvironment.Failpoint) throws {
    let scratch = try Scratch()
    let (fleet, sites) = try Self.fleet(9, in: scratch, ["a", "hub"])
    let (a, hub) = (sites[0], sites[1])
    try Self.insertLabels(0..<40, into: a)
    fleet.interrupt(hub, at: step) { try Self.insertLabels(7..<9, into: hub) }
    _ = try fleet.pass(a, hub)
    #expect(fleet.wasInterrupted)
    #expect(try fleet.settle([(a, hub)]) < 40)
    #expect(try Self.picture(a).count == 40)
    #expect(try Self.picture(a) == Self.picture(hub))
    #expect(try hub.access.held().count == 0)
  }

  @Test func whatAnotherLinkHasCommittedMeanwhileStandsBefore() throws {
    let scratch = try Scratch()
    let (fleet, sites) = try Self.fleet(9, in: scratch, ["a", "b", "hub"])
    let (a, b, hub) = (sites[0], sites[1], sites[2])
    try Self.insert(30, 0, into: a)
    try Self.insert(30, 0, into: b)
    // The other link has read all of the hub by then: what comes after it has to have a later place.
    fleet.interrupt(hub, at: .beforeImportCommit) { _ = try fleet.pass(b, hub) }
    _ = try fleet.pass(a, hub)
    #expect(fleet.wasInterrupted)
    #expect(try fleet.settle([(a, hub), (b, hub)]) < 40)
    for site in sites { #expect(try Self.picture(site).count == 60, "\(site.name)") }
  }

  @Test func aRowThatTheModelRefusesIsHeldAndTheOthersArrive() throws {
    let scratch = try Scratch()
    let (fleet, sites) = try Self.fleet(9, in: scratch, ["a", "hub"])
    let (a, hub) = (sites[0], sites[1])
    try Self.insert(40, 0, into: a)
    let file = try #require(a.store.url)
    try DatabaseQueue(patient: file.path).write { database in
      try database.execute(
        sql: "UPDATE ZENTRY SET ZTEXT = ? WHERE ZKEY = 'a5'",
        arguments: [String(repeating: "x", count: 200)])
    }
    _ = try fleet.pass(a, hub)
    #expect(try Self.picture(hub).count == 39)
    #expect(try hub.access.held().count == 1)
  }
}

extension StoreAccess {
  /// The states of all records.
  fileprivate func states() throws -> [RecordState] {
    var set: [RecordState] = []
    var cursor = SyncCursor()
    let exporter = ChangeExporter(access: self, destination: StoreID(high: 1, low: 1))
    while let next = try exporter.next(after: cursor) {
      set += next.records
      cursor.position = next.upTo
    }
    return set
  }
}
