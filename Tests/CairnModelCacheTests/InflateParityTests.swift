// Our decompression beside zlib's, over streams that zlib has made and streams that were damaged.

import CairnPlatform
import CairnTesting
import Foundation
import TestSupport
import Testing

@testable import CairnModelCache

/// RFC 1951: both give the same bytes or both refuse.
@Suite struct InflateParityTests {
  /// `make check-inflate` has all 100,000.
  private static let count =
    ProcessInfo.processInfo.environment["CAIRN_INFLATE_INPUTS"].flatMap { Int($0) } ?? 3_000

  private static let limit = 1 << 20

  @Test(.timeLimit(.minutes(60)))
  func everyStreamMeansTheSame() throws {
    let zlib = try ZLib()
    let seed = TestSeed.get("inflate beside zlib")
    var numbers = SeededNumbers(seed: seed)
    var (accepted, damaged, refused) = (0, 0, 0)
    for number in 0..<Self.count {
      let data = Self.data(using: &numbers)
      var stream = zlib.deflated(data, .random(using: &numbers))
      #expect(zlib.inflated(Deflate.compress(data), limit: Self.limit) == data)
      let isDamaged = number % 2 == 1
      if isDamaged { Self.damage(&stream, using: &numbers) }
      let ours = try? Array(Inflate.decompress(Data(stream), limit: Self.limit))
      let theirs = zlib.inflated(stream, limit: Self.limit)
      #expect(ours == theirs.map(Array.init), "seed \(seed), case \(number): \(stream)")
      if !isDamaged { #expect(theirs == data, "seed \(seed), case \(number)") }
      accepted += ours == nil ? 0 : 1
      damaged += isDamaged ? 1 : 0
      refused += ours == nil ? 1 : 0
    }
    // Some damage makes another stream that is right, and most makes none.
    #expect(accepted > Self.count / 2 && refused > damaged / 3, "seed \(seed)")
  }

  /// Bytes of a kind: noise, text, runs, or all of them in turn; often none or few.
  private static func data(using numbers: inout SeededNumbers) -> Data {
    var data = Data()
    for _ in 0..<Int.random(in: 0...3, using: &numbers) {
      let size = Int.random(in: 0...(Bool.random(using: &numbers) ? 40 : 900), using: &numbers)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0: for _ in 0..<size { data.append(UInt8.random(in: 0...255, using: &numbers)) }
      case 1: for _ in 0..<size { data.append(UInt8.random(in: 97...104, using: &numbers)) }
      case 2:
        data.append(
          contentsOf: repeatElement(UInt8.random(in: 0...255, using: &numbers), count: size))
      default:
        let word = (0..<Int.random(in: 1...30, using: &numbers)).map { _ in
          UInt8.random(in: 32...126, using: &numbers)
        }
        while data.count < size { data.append(contentsOf: word) }
      }
    }
    return data
  }

  private static func damage(_ stream: inout [UInt8], using numbers: inout SeededNumbers) {
    for _ in 0..<Int.random(in: 1...3, using: &numbers) {
      let place = Int.random(in: 0...max(0, stream.count - 1), using: &numbers)
      switch Int.random(in: 0..<6, using: &numbers) {
      case 0: stream.removeSubrange(min(place, stream.count)...)
      case 1: stream.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
      case 2:
        // The first bytes say how the rest is to be read.
        let head = min(stream.count, Int.random(in: 1...40, using: &numbers))
        for index in 0..<head { stream[index] = UInt8.random(in: 0...255, using: &numbers) }
      case 3 where !stream.isEmpty: stream.remove(at: place)
      default:
        if !stream.isEmpty { stream[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers) }
      }
    }
  }
}

/// How zlib is to compress.
private struct Compression {
  /// 0 stores bytes as they are.
  let level: Int32
  /// 4 makes blocks with the fixed code.
  let strategy: Int32
  let memory: Int32
  let window: Int32
  /// What ends a block before the last: none, a partial, a sync or a full flush.
  let flush: Int32

  static func random(using numbers: inout SeededNumbers) -> Compression {
    Compression(
      level: Int32.random(in: 0...9, using: &numbers),
      strategy: Int32.random(in: 0...4, using: &numbers),
      memory: Int32.random(in: 1...9, using: &numbers),
      window: Int32.random(in: 9...15, using: &numbers),
      flush: Int32.random(in: 0...3, using: &numbers))
  }
}

/// zlib, which every Debian system has: `dpkg` is linked to it.
private struct ZLib {
  /// `z_stream` of zlib.h.
  private struct Stream {
    var nextIn: UnsafeMutablePointer<UInt8>?
    var availableIn: UInt32 = 0
    var totalIn: UInt = 0
    var nextOut: UnsafeMutablePointer<UInt8>?
    var availableOut: UInt32 = 0
    var totalOut: UInt = 0
    var message: UnsafePointer<CChar>?
    var state: OpaquePointer?
    var allocate: OpaquePointer?
    var free: OpaquePointer?
    var context: OpaquePointer?
    var dataType: Int32 = 0
    var checksum: UInt = 0
    var reserved: UInt = 0
  }
  private typealias Pointer = UnsafeMutableRawPointer
  private typealias DeflateBegin =
    @convention(c) (
      Pointer, Int32, Int32, Int32, Int32, Int32, UnsafePointer<CChar>, Int32
    ) -> Int32
  private typealias InflateBegin =
    @convention(c) (
      Pointer, Int32, UnsafePointer<CChar>, Int32
    ) -> Int32
  private typealias Step = @convention(c) (Pointer, Int32) -> Int32
  private typealias End = @convention(c) (Pointer) -> Int32

  private let deflateBegin: DeflateBegin
  private let deflate: Step
  private let deflateEnd: End
  private let inflateBegin: InflateBegin
  private let inflate: Step
  private let inflateEnd: End

  private static let (ok, streamEnd, finish): (Int32, Int32, Int32) = (0, 1, 4)
  private static let size = Int32(MemoryLayout<Stream>.size)

  init() throws {
    let library = try DynamicLibrary(loading: "libz.so.1")
    func function<Function>(_ symbol: String) throws -> Function {
      unsafeBitCast(try library.function(symbol), to: Function.self)
    }
    deflateBegin = try function("deflateInit2_")
    deflate = try function("deflate")
    deflateEnd = try function("deflateEnd")
    inflateBegin = try function("inflateInit2_")
    inflate = try function("inflate")
    inflateEnd = try function("inflateEnd")
  }

  /// A raw stream.
  func deflated(_ data: Data, _ how: Compression) -> [UInt8] {
    var (stream, input) = (Stream(), [UInt8](data))
    var output = [UInt8](repeating: 0, count: 2 * data.count + 4_096)
    // A negative window means no header; 8 is the only method there is.
    let begun = deflateBegin(
      &stream, how.level, 8, -how.window, how.memory, how.strategy, "1.2.11", Self.size)
    #expect(begun == Self.ok)
    let first = how.flush == 0 ? 0 : input.count / 2
    let count = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output -> Int in
        stream.nextIn = input.baseAddress
        stream.nextOut = output.baseAddress
        stream.availableOut = UInt32(output.count)
        if first > 0 {
          stream.availableIn = UInt32(first)
          #expect(deflate(&stream, how.flush) == Self.ok)
        }
        stream.availableIn = UInt32(input.count - first)
        #expect(deflate(&stream, Self.finish) == Self.streamEnd)
        return Int(stream.totalOut)
      }
    }
    _ = deflateEnd(&stream)
    return Array(output[..<count])
  }

  /// What a raw stream stands for; nil when it is refused, or does not end.
  func inflated(_ data: some Collection<UInt8>, limit: Int) -> Data? {
    var (stream, input) = (Stream(), Array(data))
    guard inflateBegin(&stream, -15, "1.2.11", Self.size) == Self.ok else { return nil }
    defer { _ = inflateEnd(&stream) }
    let available = min(limit, 1_100 * input.count + 64)
    return input.withUnsafeMutableBufferPointer { input -> Data? in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: available) { output in
        stream.nextIn = input.baseAddress
        stream.availableIn = UInt32(input.count)
        stream.nextOut = output.baseAddress
        stream.availableOut = UInt32(output.count)
        guard inflate(&stream, Self.finish) == Self.streamEnd else { return nil }
        return Data(output[..<Int(stream.totalOut)])
      }
    }
  }
}
