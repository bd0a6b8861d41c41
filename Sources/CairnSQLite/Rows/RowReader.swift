import CairnModel
import CairnSQL
import CairnStore
import Foundation

/// Makes snapshots and object IDs of result rows.
///
/// An object, because each read hands it on several times: that counts one reference, not four.
final class RowReader: Sendable {
  let schema: SQLSchema
  let identity: StoreIdentity
  let files: ExternalDataFiles
  /// Of IDs, by entity number minus one.
  private let homes: [ObjectHome]

  init(schema: SQLSchema, identity: StoreIdentity, files: ExternalDataFiles) {
    self.schema = schema
    self.identity = identity
    self.files = files
    homes = schema.homes(in: identity)
  }

  /// The same with other files.
  func with(_ files: ExternalDataFiles) -> RowReader {
    RowReader(schema: schema, identity: identity, files: files)
  }

  /// The ID of a row; nil when the entity number is none of the model's.
  func objectID(entity number: Int, key: Int64) -> ManagedObjectID? {
    guard number >= 1, number <= homes.count else { return nil }
    return ManagedObjectID(home: homes[number - 1], rowKey: key)
  }

  func objectID(_ entity: SQLEntity, key: Int64) -> ManagedObjectID {
    ManagedObjectID(home: homes[entity.number - 1], rowKey: key)
  }

  /// The snapshot of the current row of a statement that selects a shape's columns from `first`.
  ///
  /// Nil for a row of an entity that the shape does not cover, which only a damaged file has.
  ///
  /// - Parameter known: The ID that was asked for, which is used again if it is exactly the row's.
  @inline(__always)
  func snapshot(
    _ statement: SQLiteStatement, shape: SQLRowShape, first: Int32 = 0,
    known: ManagedObjectID? = nil
  ) -> RowSnapshot? {
    let number = Int(truncatingIfNeeded: statement.integer(first))
    let index = number &- shape.firstNumber
    guard index >= 0, index < shape.starts.count - 1, number >= 1, number <= homes.count else {
      return nil
    }
    let start = shape.starts[index]
    let count = shape.starts[index + 1] - start
    let key = statement.integer(first + 1)
    let version = statement.integer(first + 2)
    return RowSnapshot.make(version: version, count: count) { slots in
      shape.reads.withUnsafeBufferPointer { reads in
        for slot in 0..<count {
          slots.initialize(slot, to: value(statement, reads[start + slot], first))
        }
      }
    } objectID: {
      if let known, known.isRow(key, of: homes[number - 1]) { return known }
      return ManagedObjectID(home: homes[number - 1], rowKey: key)
    }
  }

  @inline(__always)
  private func value(
    _ statement: SQLiteStatement, _ read: SQLRowShape.Read, _ first: Int32
  ) -> AttributeValue {
    switch read {
    case .null: return .null
    case .attribute(let column, let type, let isExternal):
      return statement.value(first + column, type: type, isExternal: isExternal, files: files)
    case .toOne(let column, let companion, let destination):
      if statement.isNull(first + column) { return .null }
      return toOne(
        statement, key: statement.integer(first + column),
        companion: companion < 0 ? -1 : first + companion, destination: destination)
    }
  }

  private func toOne(
    _ statement: SQLiteStatement, key: Int64, companion: Int32, destination: Int
  ) -> AttributeValue {
    var number = destination
    if companion >= 0, !statement.isNull(companion) {
      let exact = Int(truncatingIfNeeded: statement.integer(companion))
      // Only a damaged file names an entity that the relationship does not lead to.
      if schema.entity(number: destination)?.subtree.contains(exact) == true { number = exact }
    }
    return objectID(entity: number, key: key).map { .object($0) } ?? .null
  }
}
