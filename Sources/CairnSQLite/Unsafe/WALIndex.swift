import GRDBSQLite
import Synchronization

/// The first page of a database's WAL index, through SQLite's own mapping of it.
///
/// SQLite keeps the page where it is for as long as the connection is open. Other processes write to
/// it, so what is read may be half of a change: it is only ever compared with what was read before.
struct WALIndex {
  private let page: UnsafeRawPointer

  /// The header's twelve words: change counter, number of frames, checksums and salts.
  struct Header: Equatable {
    fileprivate var low: SIMD8<UInt32> = .zero
    fileprivate var high: SIMD4<UInt32> = .zero
  }

  /// The size of a page of the WAL index, fixed by its format.
  private static let pageSize: Int32 = 32768

  /// Finds the index, which the connection's first read has mapped; nil when there is none.
  init?(of connection: OpaquePointer?) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard
      sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
      let file, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
      let map = methods.pointee.xShmMap
    else { return nil }
    var page: UnsafeMutableRawPointer?
    guard map(file, 0, Self.pageSize, 0, &page) == SQLITE_OK, let page else { return nil }
    self.page = UnsafeRawPointer(page)
  }

  /// The header as it is now.
  @inline(__always)
  var header: Header {
    atomicMemoryFence(ordering: .acquiring)
    return Header(
      low: page.loadUnaligned(as: SIMD8<UInt32>.self),
      high: page.loadUnaligned(fromByteOffset: 32, as: SIMD4<UInt32>.self))
  }
}
