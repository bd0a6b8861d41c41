import CairnModel
import CairnStore
import Crypto
import Foundation

/// Cairn's binary format, version 1.
///
/// Core Data's own is an undocumented keyed archive; this one is written down here.
///
/// ```
/// offset  bytes  content
///      0     16  "CairnBinaryStore"
///     16      4  format version, big endian: 1
///     20      8  length of the body, big endian
///     28     32  SHA-256 of the body
///     60      …  body
/// ```
/// The body is a sequence of fields; numbers are LEB128 (signed ones zigzag), texts and data are
/// preceded by their length:
///
///     metadata       binary property list with type and UUID
///     last key       the highest key ever given
///     entities       count, then for each entity that has rows
///       name, slots (count, names), to-manys (count, names)
///       rows         count, then for each: key, version, a value per slot
///                    (see ``BinaryValues``), then a list of links per to-many:
///                    count, then (entity index, key)
///
/// A file is whole or refused: length and checksum are compared before anything is read.
struct BinaryStoreFormat: WholeFileFormat {
  static let magic = Data("CairnBinaryStore".utf8)
  static let version: UInt32 = 1
  static let headerLength = 60

  var type: String { StoreTypeName.binary }
  var rowPrefix: String { "p" }

  /// Every model fits.
  func check(_ model: ManagedObjectModel) throws {}

  func emptyTables() -> MemoryTables { MemoryTables(manner: .wholeFile) }

  func content(
    of data: Data, path: String, model: ManagedObjectModel, identity: StoreIdentity,
    options: StoreOptions
  ) throws -> WholeFileContent {
    var fields = BinaryFields(try body(of: data, path: path))
    do {
      let metadata = try Self.metadata(&fields)
      let tables = try BinaryRowReading(model: model, identity: identity).tables(from: &fields)
      return WholeFileContent(metadata: metadata, tables: tables)
    } catch let problem as BinaryFields.Problem {
      throw damage(path, problem.message)
    }
  }

  func metadata(of data: Data, path: String) throws -> [String: Any] {
    var fields = BinaryFields(try body(of: data, path: path))
    do {
      return try Self.metadata(&fields)
    } catch let problem as BinaryFields.Problem {
      throw damage(path, problem.message)
    }
  }

  func data(of content: WholeFileContent, model: ManagedObjectModel) throws -> Data {
    var fields = BinaryFieldWriter()
    fields.add(try Self.propertyList(content.metadata))
    BinaryRowWriting(tables: content.tables).write(to: &fields)
    return Self.file(fields.data)
  }

  func data(
    of data: Data, path: String, withMetadata metadata: [String: Any]
  ) throws -> Data {
    var fields = BinaryFields(try body(of: data, path: path))
    var metadata = metadata
    do {
      let old = try Self.metadata(&fields)
      metadata[StoreMetadataKey.type] = type
      metadata[StoreMetadataKey.uuid] =
        metadata[StoreMetadataKey.uuid] ?? old[StoreMetadataKey.uuid]
    } catch let problem as BinaryFields.Problem {
      throw damage(path, problem.message)
    }
    var new = BinaryFieldWriter()
    new.add(try Self.propertyList(metadata))
    return Self.file(new.data + fields.rest)
  }

  // MARK: Frame

  private static func file(_ body: Data) -> Data {
    var file = magic
    withUnsafeBytes(of: version.bigEndian) { file.append(contentsOf: $0) }
    withUnsafeBytes(of: UInt64(body.count).bigEndian) { file.append(contentsOf: $0) }
    file.append(contentsOf: SHA256.hash(data: body))
    file.append(body)
    return file
  }

  /// The checked body.
  private func body(of data: Data, path: String) throws -> Data {
    let bytes = Data(data)
    guard bytes.starts(with: Self.magic) else {
      throw CoreDataError(
        .persistentStoreInvalidType,
        "\(path) is not a binary store of Cairn's"
          + (bytes.starts(with: Data("bplist".utf8))
            ? "; it looks like one that Apple's Core Data wrote, which cannot be read. Save it as "
              + "SQLite or XML there." : "."),
        userInfo: [NSFilePathErrorKey: path])
    }
    guard bytes.count >= Self.headerLength else { throw damage(path, "it ends inside its header") }
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    let version = number(16..<20)
    guard version == UInt64(Self.version) else {
      throw damage(
        path, "it is of format version \(version); known is \(Self.version). Use a newer Cairn")
    }
    let length = number(20..<28)
    let body = bytes[Self.headerLength...]
    guard UInt64(body.count) == length else {
      throw damage(path, "it has \(body.count) bytes of content instead of \(length)")
    }
    guard SHA256.hash(data: body) == bytes[28..<60] else {
      throw damage(path, "its checksum is wrong")
    }
    return Data(body)
  }

  private func damage(_ path: String, _ message: String) -> CoreDataError {
    CoreDataError(
      .fileReadCorruptFile,
      "The binary store at \(path) cannot be read: \(message). The file was left as it is.",
      userInfo: [NSFilePathErrorKey: path, "reason": message])
  }

  // MARK: Metadata

  private static func metadata(_ fields: inout BinaryFields) throws -> [String: Any] {
    let list = try fields.data()
    guard
      let value = try? PropertyListReading.value(in: list),
      var metadata = value as? [String: Any]
    else { throw BinaryFields.Problem(message: "its metadata is no property list") }
    metadata[StoreMetadataKey.type] = StoreTypeName.binary
    return metadata
  }

  private static func propertyList(_ metadata: [String: Any]) throws -> Data {
    do {
      return try PropertyListReading.data(of: metadata)
    } catch {
      throw CoreDataError(
        .coreData, "The store's metadata holds something that is no property-list value.",
        underlyingError: error)
    }
  }
}
