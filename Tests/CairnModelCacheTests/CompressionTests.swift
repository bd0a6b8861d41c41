import Foundation
import TestSupport
import Testing

@testable import CairnModelCache

/// Raw DEFLATE streams.
@Suite struct CompressionTests {
  @Test("Data comes back from its compressed form")
  func roundTrip() throws {
    var random = SplitMix(state: TestSeed.get("CompressionTests.roundTrip"))
    for size in [0, 1, 2, 3, 257, 258, 259, 5000, 70_000] {
      let noise = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
      let text = Data((0..<size).map { _ in UInt8.random(in: 97...100, using: &random) })
      let run = Data(repeating: 7, count: size)
      for data in [noise, text, run] {
        #expect(try Inflate.decompress(Deflate.compress(data)) == data)
      }
    }
  }

  @Test("Repetition is compressed")
  func repetition() {
    let data = Data(String(repeating: "NSAttributeDescription", count: 500).utf8)
    #expect(Deflate.compress(data).count < data.count / 20)
  }

  @Test("A stream with its own code is decompressed")
  func dynamicBlock() throws {
    // Made by zlib, level 9, without header.
    let stream = Data([
      0x6D, 0x4F, 0x5B, 0x0A, 0x80, 0x30, 0x0C, 0xBB, 0x4A, 0xAF, 0xD6, 0x42, 0x65, 0x30,
      0xA1, 0x30, 0x15, 0xAF, 0x2F, 0x6B, 0xA6, 0xC6, 0xC7, 0x4F, 0x36, 0xF2, 0xDC, 0x2C,
      0xA2, 0xCA, 0x1E, 0xAD, 0x8A, 0x6E, 0x6B, 0x89, 0x26, 0xBA, 0x14, 0x9F, 0x27, 0x01,
      0x5A, 0x57, 0x4F, 0xE1, 0x71, 0x40, 0x77, 0x4E, 0xA6, 0xD9, 0x41, 0x25, 0x70, 0xFA,
      0x43, 0xE8, 0xCB, 0x67, 0xD7, 0x43, 0xD0, 0xA9, 0x5C, 0x3D, 0x76, 0xC6, 0xE8, 0xED,
      0x4F, 0x00, 0xFB, 0x63, 0xA7, 0x65, 0x47, 0x9D, 0x53, 0x80, 0x7F, 0x80, 0xFB, 0x01,
    ])
    let text =
      "book work author ashelf shelf book author author author shelf ework author book "
      + "eework work book author work book author awork work book book work work aawork a"
      + "uthor ework ashelf ebook book book shelf work author ework author work eawork eb"
      + "ook shelf shelf ework shelf "
    #expect(try Inflate.decompress(stream) == Data(text.utf8))
  }

  @Test("Broken streams are refused with an error, whatever they are")
  func hostileStreams() {
    var random = SplitMix(state: TestSeed.get("CompressionTests.hostileStreams"))
    for _ in 0..<3000 {
      let size = Int.random(in: 0...200, using: &random)
      let noise = Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
      if let data = try? Inflate.decompress(noise, limit: 10_000) { #expect(data.count <= 10_000) }
    }
  }

  @Test("A stream that would grow beyond the limit is refused")
  func limit() {
    let bomb = Deflate.compress(Data(repeating: 0, count: 1_000_000))
    #expect(throws: InflateError(code: .tooLarge)) {
      try Inflate.decompress(bomb, limit: 999_999)
    }
  }

  @Test("A stream that ends early is refused")
  func truncated() {
    let whole = Deflate.compress(Data("a library of books".utf8))
    #expect(throws: InflateError(code: .truncated)) {
      try Inflate.decompress(whole.dropLast(3))
    }
  }
}
