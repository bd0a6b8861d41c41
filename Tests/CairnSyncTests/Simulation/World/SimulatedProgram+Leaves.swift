import CairnContext
import CairnModel
import CairnPredicates
import CairnStore
import Foundation

@testable import CairnSync

// What programs do with leaves, whose records are no more than their rows: many of them in one save, so that sync
// takes them up, plans and writes them by the run.

extension SimulatedProgram {
  /// What else a leaf has that has a number: in other types, so that each number has its own.
  static func shadows(of number: Double) -> [String: Any] {
    [
      "count": Int64(number), "moment": Date(timeIntervalSinceReferenceDate: number),
      "data": data(of: number),
      "ident": UUID(uuidString: String(format: "00000000-0000-4000-8000-%012d", Int(number)))
        ?? UUID(),
      "flag": Int(number) % 3 == 0,
    ]
  }

  /// The data that goes with a number: of each sixth so large that a store keeps it in a file.
  static func data(of number: Double) -> Data {
    let digits = Data("\(number)".utf8)
    if Int(number) % 6 != 0 { return digits }
    return digits + Data(repeating: UInt8(truncatingIfNeeded: Int(number)), count: largeSize)
  }

  /// More than a store writes into a row.
  private static let largeSize = 100_001

  /// One save of leaves alone.
  mutating func leaves(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle, _ deletes: Bool
  ) throws {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<3: try insertLeaves(context, &oracle)
    case 3..<5: try batchInsertLeaves(context, &oracle)
    case 5..<7:
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        try changeLeaf(try all("Leaf", context), &oracle)
      }
    case 7: try batchUpdateLeaf(context, &oracle)
    case 8:
      guard deletes else { return }
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        guard let leaf = generator.pick(try all("Leaf", context)) else { return }
        delete(leaf, context)
        done["leaf delete", default: 0] += 1
      }
    default: if deletes { try batchDeleteLeaves(context, &oracle) }
    }
  }

  /// A single leaf among whatever else a save does.
  mutating func leaf(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle, _ deletes: Bool
  ) throws {
    let leaves = try all("Leaf", context)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<4: _ = try insertLeaf(context, leaves, &oracle)
    case 4..<8: try changeLeaf(leaves, &oracle)
    default:
      guard deletes, let leaf = generator.pick(leaves) else { return }
      delete(leaf, context)
      done["leaf delete", default: 0] += 1
    }
  }

  private mutating func insertLeaves(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle
  ) throws {
    var leaves = generator.chance(50) ? try all("Leaf", context) : []
    let isMixed = generator.chance(40)
    for _ in 0..<Int.random(in: 16...40, using: &generator) {
      let stems = generator.chance(30) ? leaves : []
      leaves.append(
        try insertLeaf(context, stems, &oracle, isBloom: isMixed && generator.chance(40)))
    }
    // One that stands in the way of all others.
    if generator.chance(10) { try operation(context, &oracle, false) }
    done["leaves at once", default: 0] += 1
  }

  private mutating func insertLeaf(
    _ context: ManagedObjectContext, _ stems: [ManagedObject], _ oracle: inout SimulationOracle,
    isBloom: Bool = false
  ) throws -> ManagedObject {
    let key = oracle.fresh("l")
    let leaf = try insert(isBloom ? "Bloom" : "Leaf", ["key": key], context)
    draft.inserted.insert(key)
    draft.touched.insert(key)
    did("leaf", "insert leaf \(key)")
    let value = oracle.fresh("v")
    write(leaf, "value", value, value)
    if generator.chance(50) { number(leaf, &oracle) }
    if isBloom {
      let petal = oracle.fresh("b")
      write(leaf, "petal", petal, petal)
    }
    if let stem = generator.pick(stems) { put(leaf, on: stem) }
    return leaf
  }

  private mutating func number(_ leaf: ManagedObject, _ oracle: inout SimulationOracle) {
    let number = oracle.freshNumber()
    write(leaf, "other", number, "\(number)")
    for (name, value) in Self.shadows(of: number) { leaf.setValue(value, forKey: name) }
  }

  private mutating func put(_ leaf: ManagedObject, on stem: ManagedObject?) {
    if leaf.value(forKey: "stem") as? ManagedObject === stem { return }
    leaf.setValue(stem, forKey: "stem")
    draft.set["stem \(Self.key(leaf))"] = Self.key(stem)
    draft.touched.insert(Self.key(leaf))
    did("stem", "\(Self.key(leaf)).stem = \(Self.key(stem))")
  }

  private mutating func changeLeaf(
    _ leaves: [ManagedObject], _ oracle: inout SimulationOracle
  ) throws {
    guard let leaf = generator.pick(leaves) else { return }
    let isBloom = leaf.entity.name == "Bloom"
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<3: number(leaf, &oracle)
    case 3..<5: put(leaf, on: generator.chance(20) ? nil : generator.pick(leaves))
    case 5 where version == .muchNewer:
      let extra = oracle.fresh("x")
      write(leaf, "extra", extra, extra)
    case 6..<8 where isBloom:
      let petal = oracle.fresh("b")
      write(leaf, "petal", petal, petal)
    default:
      let value = oracle.fresh("v")
      write(leaf, "value", value, value)
    }
    done["leaf update", default: 0] += 1
  }

  // MARK: Batches

  private mutating func batchInsertLeaves(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle
  ) throws {
    var rows: [[String: Any]] = []
    let hasNumbers = generator.chance(50)
    func note(_ value: String, _ property: String, _ key: String) {
      draft.writes.append(
        (
          .init(
            value: value, place: "leaf \(key) \(property)", record: key, store: store, time: time),
          nil
        ))
    }
    for _ in 0..<Int.random(in: 16...40, using: &generator) {
      let (key, value) = (oracle.fresh("l"), oracle.fresh("v"))
      var row: [String: Any] = ["key": key, "value": value]
      note(value, "value", key)
      if hasNumbers {
        let number = oracle.freshNumber()
        row["other"] = number
        row.merge(Self.shadows(of: number)) { $1 }
        note("\(number)", "other", key)
      }
      rows.append(row)
      draft.inserted.insert(key)
      draft.touched.insert(key)
    }
    did("leaf batch insert", "batch insert \(rows.map { "\($0["key"] ?? "")" })")
    _ = try context.execute(BatchInsertRequest(entityName: "Leaf", objects: rows))
  }

  private mutating func batchUpdateLeaf(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle
  ) throws {
    guard let leaf = generator.pick(try all("Leaf", context)) else { return }
    let request = BatchUpdateRequest(entityName: "Leaf")
    request.predicate = ObjectPredicate(format: "key == %@", Self.key(leaf))
    if generator.chance(50) {
      let number = oracle.freshNumber()
      write(leaf, "other", number, "\(number)")
      request.propertiesToUpdate = Self.shadows(of: number).merging(["other": number]) { $1 }
    } else {
      let value = oracle.fresh("v")
      write(leaf, "value", value, value)
      request.propertiesToUpdate = ["value": value]
    }
    context.reset()
    did("leaf batch update", "by a batch")
    _ = try context.execute(request)
  }

  private mutating func batchDeleteLeaves(
    _ context: ManagedObjectContext, _ oracle: inout SimulationOracle
  ) throws {
    var keys: [String] = []
    for _ in 0..<Int.random(in: 1...8, using: &generator) {
      guard let leaf = generator.pick(try all("Leaf", context)) else { break }
      keys.append(Self.key(leaf))
      delete(leaf, context)
    }
    context.reset()
    if keys.isEmpty { return }
    let fetch = FetchRequest<any FetchRequestResult>(entityName: "Leaf")
    fetch.predicate = ObjectPredicate(format: "key IN %@", keys)
    did("leaf batch delete", "\(keys) by a batch")
    _ = try context.execute(BatchDeleteRequest(fetchRequest: fetch))
  }
}
