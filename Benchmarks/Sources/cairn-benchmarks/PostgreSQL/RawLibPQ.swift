// libpq's functions as the raw program calls them, loaded when they are needed.

import Foundation

/// One connection of the raw program: prepared statements, binary values, blocking calls.
final class RawLibPQ {
  typealias Handle = OpaquePointer
  typealias Texts = UnsafePointer<UnsafePointer<CChar>?>
  typealias Connect = @convention(c) (UnsafePointer<CChar>) -> Handle?
  typealias OfHandle = @convention(c) (Handle) -> Int32
  typealias Free = @convention(c) (Handle) -> Void
  typealias Message = @convention(c) (Handle) -> UnsafePointer<CChar>?
  typealias Execute = @convention(c) (Handle, UnsafePointer<CChar>) -> Handle?
  typealias Prepare =
    @convention(c) (
      Handle, UnsafePointer<CChar>, UnsafePointer<CChar>, Int32, UnsafePointer<UInt32>?
    ) -> Handle?
  typealias Run =
    @convention(c) (
      Handle, UnsafePointer<CChar>, Int32, Texts?, UnsafePointer<Int32>?, UnsafePointer<Int32>?,
      Int32
    ) -> Handle?
  typealias Value = @convention(c) (Handle, Int32, Int32) -> UnsafePointer<CChar>?
  typealias OfCell = @convention(c) (Handle, Int32, Int32) -> Int32
  typealias PutData = @convention(c) (Handle, UnsafePointer<CChar>, Int32) -> Int32
  typealias PutEnd = @convention(c) (Handle, UnsafePointer<CChar>?) -> Int32
  typealias Next = @convention(c) (Handle) -> Handle?

  private let handle: Handle
  private let finish: Free
  private let message: Message
  private let executing: Execute
  private let preparing: Prepare
  private let running: Run
  private let status: OfHandle
  private let putData: PutData
  private let putEnd: PutEnd
  private let nextResult: Next
  let clear: Free
  let rowCount: OfHandle
  let value: Value
  let length: OfCell
  let isNull: OfCell

  init(_ settings: String) throws {
    guard let library = dlopen("libpq.so.5", RTLD_NOW) else {
      throw RawError(description: "libpq.so.5 cannot be loaded")
    }
    func find<Function>(_ name: String) throws -> Function {
      guard let symbol = dlsym(library, name) else {
        throw RawError(description: "libpq lacks \(name)")
      }
      // The types above are those of libpq's documentation.
      return unsafeBitCast(symbol, to: Function.self)
    }
    let connect: Connect = try find("PQconnectdb")
    let connectionStatus: OfHandle = try find("PQstatus")
    (finish, message) = (try find("PQfinish"), try find("PQerrorMessage"))
    (executing, preparing) = (try find("PQexec"), try find("PQprepare"))
    (running, status) = (try find("PQexecPrepared"), try find("PQresultStatus"))
    (putData, putEnd) = (try find("PQputCopyData"), try find("PQputCopyEnd"))
    (nextResult, clear) = (try find("PQgetResult"), try find("PQclear"))
    (rowCount, value) = (try find("PQntuples"), try find("PQgetvalue"))
    (length, isNull) = (try find("PQgetlength"), try find("PQgetisnull"))
    guard let handle = connect(settings) else { throw RawError(description: "no connection") }
    self.handle = handle
    guard connectionStatus(handle) == 0 else { throw failure("connecting") }
    try execute("SET client_min_messages = warning")
  }

  deinit { finish(handle) }

  private func failure(_ what: String) -> RawError {
    RawError(description: "\(what): \(message(handle).map { String(cString: $0) } ?? "")")
  }

  /// Gives the result to a block, and frees it afterwards.
  private func use<T>(_ result: Handle?, _ what: String, _ body: (Handle) throws -> T) throws -> T {
    guard let result else { throw failure(what) }
    defer { clear(result) }
    // A command, rows, or COPY that goes on.
    guard (1...4).contains(status(result)) else { throw failure(what) }
    return try body(result)
  }

  func execute(_ text: String) throws { try use(executing(handle, text), text) { _ in } }

  func prepare(_ name: String, _ text: String, types: [UInt32] = []) throws {
    try use(preparing(handle, name, text, Int32(types.count), types), text) { _ in }
  }

  /// Runs a prepared statement with binary values, and reads its binary rows.
  func run<T>(
    _ name: String, _ parameters: [UnsafeRawBufferPointer] = [], _ body: (Handle) throws -> T
  ) throws -> T {
    let values = parameters.map { $0.baseAddress?.assumingMemoryBound(to: CChar.self) }
    let lengths = parameters.map { Int32($0.count) }
    let formats = [Int32](repeating: 1, count: parameters.count)
    return try use(
      running(handle, name, Int32(parameters.count), values, lengths, formats, 1), name, body)
  }

  /// Copies rows in, a piece of the binary form at a time.
  func copy(_ text: String, _ produce: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void)
    throws
  {
    try execute(text)
    try produce { bytes in
      guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
        putData(handle, start, Int32(bytes.count)) == 1
      else { throw failure(text) }
    }
    guard putEnd(handle, nil) == 1 else { throw failure(text) }
    while let result = nextResult(handle) { try use(result, text) { _ in } }
  }
}

/// Bytes as the server takes them, in memory that is used again.
struct RawBytes {
  private(set) var buffer: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(capacity: Int = 1 << 16) {
    buffer = .allocate(byteCount: capacity, alignment: 16)
  }

  func free() { buffer.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

  mutating func clear() { count = 0 }

  private mutating func reserve(_ more: Int) {
    if count + more <= buffer.count { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(buffer.count * 2, count + more), alignment: 16)
    larger.copyMemory(from: bytes)
    buffer.deallocate()
    buffer = larger
  }

  mutating func append(_ number: some FixedWidthInteger) {
    let size = number.bitWidth / 8
    reserve(size)
    buffer.storeBytes(of: number.bigEndian, toByteOffset: count, as: type(of: number))
    count += size
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  /// A value of eight bytes, with its length.
  mutating func value(_ number: Int64) {
    append(Int32(8))
    append(number)
  }

  mutating func value(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      append(Int32(bytes.count))
      append(UnsafeRawBufferPointer(bytes))
    }
  }

  mutating func value(_ data: Data?) {
    guard let data else { return append(Int32(-1)) }
    append(Int32(data.count))
    data.withUnsafeBytes { append($0) }
  }

  /// Overwrites a number.
  func set(_ number: Int32, at place: Int) {
    buffer.storeBytes(of: number.bigEndian, toByteOffset: place, as: Int32.self)
  }
}
