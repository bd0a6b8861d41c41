// Reads of rows whose large values are in files.
//
// A file goes after the commit that gives it up. A read that found the row before that commit and
// asks for the file after it finds none, though the value has never been missing: the row is read
// again then. What the newer row still names and is not there is damage.

import CairnSQL
import CairnStore
import Foundation

/// Rows named files that were not there.
struct MissingFiles: Error {
  let names: Set<String>
}

/// What reading files of external data came to, while one read is under way.
///
/// The values of a row cannot throw; the read does so when it is done.
// Unchecked: used by the one thread that executes the read.
final class FileReadTrouble: @unchecked Sendable {
  private(set) var error: (any Error)?
  private(set) var missing: Set<String> = []

  func note(_ error: any Error) {
    if self.error == nil { self.error = error }
  }

  func noteMissing(_ name: String) { missing.insert(name) }
}

extension ExternalDataFiles {
  /// Executes a read, which throws when a file that it wanted could not be read.
  ///
  /// - Parameter lost: Files that are known to be missing for good, whose values are nil, as in
  ///   Core Data; nil for whatever is missing, where no other writer can commit.
  /// - Throws: ``MissingFiles`` for other files that are not there.
  func reading<T>(
    lost: Set<String>?, _ body: (ExternalDataFiles) throws -> T
  ) throws -> T {
    let trouble = FileReadTrouble()
    var files = self
    files.trouble = trouble
    let result = try body(files)
    if let error = trouble.error { throw error }
    if let lost, !trouble.missing.isSubset(of: lost) {
      throw MissingFiles(names: trouble.missing)
    }
    return result
  }
}

extension RowReader {
  /// Executes `body`, which throws when a file of external data could not be read, too.
  ///
  /// - Parameter lost: Files that may be missing; nil where no other writer can commit.
  /// - Throws: ``MissingFiles`` for other files that are not there.
  @inline(__always)
  func lookUp<T>(
    _ connection: SQLiteConnection, lost: Set<String>?, _ body: (RowLookup) throws -> T
  ) throws -> T {
    if !schema.hasExternalData { return try body(RowLookup(connection: connection, reader: self)) }
    return try files.reading(lost: lost) {
      try body(RowLookup(connection: connection, reader: with($0)))
    }
  }
}

extension SQLiteStore {
  /// So often a row is read again at most; each time a writer must have replaced a value meanwhile.
  private static let maximumReadings = 50

  /// Executes a read, and executes it again when it found files missing: what a newer state of the
  /// store names as well is lost.
  ///
  /// - Parameter body: Begins a read of its own each time, and gets what is lost.
  @inline(__always)
  func following<T>(
    _ schema: SQLSchema, _ body: (_ lost: Set<String>) throws -> T
  ) throws -> T {
    guard schema.hasExternalData else { return try body([]) }
    return try readAgain(body)
  }

  private func readAgain<T>(_ body: (Set<String>) throws -> T) throws -> T {
    var lost: Set<String> = []
    for _ in 0..<Self.maximumReadings {
      do {
        return try body(lost)
      } catch let error as MissingFiles {
        lost.formUnion(error.names)
      }
    }
    throw CoreDataError(
      .persistentStoreOperation,
      "Large values of the store at \(path) were replaced each time while they were being read; try "
        + "again.", userInfo: [NSFilePathErrorKey: path])
  }

  /// Which of some files the rows name now.
  func namedFiles(among names: Set<String>) throws -> Set<String> {
    try readConsistently { try $0.schema.namedFiles(among: names, $0.connection) }
  }
}

extension SQLSchema {
  /// Which of some files of external data the rows name.
  func namedFiles(
    among names: Set<String>, _ connection: SQLiteConnection
  ) throws -> Set<String> {
    var found: Set<String> = []
    for entity in entities {
      for slot in entity.externalSlots {
        guard let column = entity.slots[slot].column else { continue }
        let select = try connection.statement(
          "SELECT substr(\(column), 1, 38) FROM \(entity.table) "
            + "WHERE Z_ENT = ? AND substr(\(column), 1, 1) = x'02'")
        defer { select.reset() }
        select.bind(Int64(entity.number), at: 1)
        while try select.step() {
          guard let name = ExternalDataFiles.fileName(ofColumn: select.data(0)) else { continue }
          if names.contains(name) { found.insert(name) }
        }
      }
    }
    return found
  }
}
