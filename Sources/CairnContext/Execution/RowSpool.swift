import CairnModel
import CairnStore
import Foundation

/// Rows that a program's handler has made and that wait for the store's transaction: the first in
/// memory, the rest in a file that no other program sees, so that a large import is never in memory
/// as a whole.
///
/// First all rows are appended, then they are taken out in the same order.
final class RowSpool {
  typealias Row = BatchRowSource.Row

  private let portion: Int
  private let memoryLimit: Int
  private var coding: RowCoding
  /// What is not in the file, about this large.
  private var rows: [Row] = []
  private var size = 0
  private var file: FileHandle?
  /// The sizes of the portions in the file, in order.
  private var portions: [Int] = []

  /// - Parameters:
  ///   - portion: So many rows are taken out at a time.
  ///   - memoryLimit: About so many bytes of rows stay in memory.
  init(layout: EntityLayout, portion: Int, memoryLimit: Int = 32 << 20) {
    coding = RowCoding(layout: layout)
    self.portion = portion
    self.memoryLimit = memoryLimit
  }

  deinit { try? file?.close() }

  /// Whether rows had to go into a file.
  var usesFile: Bool { file != nil }

  // MARK: In

  /// - Throws: 134070 when the file cannot be written.
  func append(_ row: Row) throws {
    rows.append(row)
    size += RowCoding.estimatedSize(of: row)
    if size >= memoryLimit { try moveToFile() }
  }

  private func moveToFile() throws {
    do {
      let file = try self.file ?? Self.unnamedFile()
      self.file = file
      for start in stride(from: 0, to: rows.count, by: portion) {
        let data = coding.encode(rows[start..<min(start + portion, rows.count)])
        try file.write(contentsOf: data)
        portions.append(data.count)
      }
    } catch {
      throw CoreDataError(
        .persistentStoreOperation,
        "The rows of a batch insert cannot be kept in a file until the store takes them: \(error). "
          + "Make room in \(FileManager.default.temporaryDirectory.path), or insert fewer rows with "
          + "one request.", underlyingError: error)
    }
    rows.removeAll(keepingCapacity: true)
    size = 0
  }

  /// A file without a name: it goes with its handle, whatever becomes of the process.
  private static func unnamedFile() throws -> FileHandle {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-rows-\(UUID().uuidString)")
    try Data().write(to: url, options: .withoutOverwriting)
    defer { try? FileManager.default.removeItem(at: url) }
    return try FileHandle(forUpdating: url)
  }

  // MARK: Out

  private var nextPortion = 0
  private var nextRow = 0

  /// The next rows; nil when there are no more.
  ///
  /// - Throws: 134070 when the file cannot be read.
  func take() throws -> [Row]? {
    if nextPortion < portions.count, let file {
      if nextPortion == 0 { try file.seek(toOffset: 0) }
      let size = portions[nextPortion]
      nextPortion += 1
      guard let data = try file.read(upToCount: size), data.count == size,
        let rows = coding.decode(data)
      else {
        throw CoreDataError(
          .persistentStoreOperation,
          "The rows of a batch insert that were kept in a file cannot be read again; nothing was "
            + "inserted.")
      }
      return rows
    }
    if nextRow >= rows.count { return nil }
    let taken = rows[nextRow..<min(nextRow + portion, rows.count)]
    nextRow = taken.endIndex
    return Array(taken)
  }
}
