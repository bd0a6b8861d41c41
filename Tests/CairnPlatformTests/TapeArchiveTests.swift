import CairnPlatform
import Testing

/// POSIX `ustar`: a time has eleven octal digits.
@Suite struct TapeArchiveTests {
  @Test(arguments: [
    (0, "00000000000"), (8, "00000000010"), (1 << 33 - 1, "77777777777"), (1 << 33, "77777777777"),
    (Int.max, "77777777777"), (-1, "00000000000"),
  ])
  func aTimeThatTheFormatDoesNotHaveIsTheNearestThatItHas(time: Int, digits: String) {
    var archive = TapeArchive()
    archive.add("file", [1], time: time)
    #expect(String(decoding: archive.bytes[136..<147], as: UTF8.self) == digits)
    #expect(archive.bytes[147] == 0, "the next field begins where it did")
  }
}
