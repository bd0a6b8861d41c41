// Every value comes back equal, whichever way it goes to the server.

import CairnModel
import CairnStore
import CairnTesting
import Foundation
import TestServers
import Testing

@testable import CairnPostgreSQL

@Suite(.needsServer) struct ValueTests {
  let connection: PostgreSQLConnection

  init() throws { connection = try PostgreSQLServer.shared.connect() }

  /// What comes back of values that a statement, an array and a COPY bring there.
  private func returned(
    _ values: [AttributeValue], _ form: ValueForm
  ) throws -> [(way: String, values: [AttributeValue])] {
    let columns = form.types.indices.map { "c\($0)" }
    let list = columns.joined(separator: ", ")
    try connection.run("DROP TABLE IF EXISTS pg_temp.value", isKept: false)
    let declared = zip(columns, form.types).map { "\($0) \($1.name)" }.joined(separator: ", ")
    try connection.run(
      "CREATE TEMP TABLE value (n bigint GENERATED ALWAYS AS IDENTITY, \(declared))", isKept: false)
    var results: [(String, [AttributeValue])] = []
    func take(_ way: String) throws {
      let rows = try connection.run("SELECT \(list) FROM pg_temp.value ORDER BY n", isKept: false)
      results.append((way, try (0..<rows.count).map { try form.value(rows, $0, 0) }))
      try connection.run("TRUNCATE pg_temp.value", isKept: false)
    }
    let marks = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    try connection.run(
      values.map { value in
        var parameters = ParameterList()
        try form.append(value, to: &parameters)
        return Statement("INSERT INTO pg_temp.value (\(list)) VALUES (\(marks))", parameters)
      })
    try take("parameters")
    var arrays = form.types.map { ArrayValue(of: $0) }
    for value in values {
      var row = ParameterRow(arrays: arrays)
      try form.append(value, to: &row)
      arrays = row.arrays
    }
    var parameters = ParameterList()
    for array in arrays { parameters.append(array) }
    try connection.run(
      "INSERT INTO pg_temp.value (\(list)) SELECT * FROM unnest(\(marks))", parameters)
    try take("unnest")
    _ = try connection.copy(
      "COPY pg_temp.value (\(list)) FROM STDIN", columnCount: columns.count
    ) { rows in
      for value in values { try rows.row { try form.append(value, to: &$0) } }
    }
    try take("COPY")
    return results
  }

  /// Spreads the columns of a value over arrays, one a column.
  private struct ParameterRow: ValueSink {
    var arrays: [ArrayValue]
    private var next = 0
    init(arrays: [ArrayValue]) { self.arrays = arrays }
    var writer: BinaryWriter {
      get { arrays[next].writer }
      set { arrays[next].writer = newValue }
    }
    mutating func begin(_ type: PostgreSQLType) { arrays[next].begin(type) }
    mutating func end() {
      arrays[next].end()
      next += 1
    }
    mutating func appendNull(_ type: PostgreSQLType) {
      arrays[next].appendNull(type)
      next += 1
    }
  }

  private func expectSame(_ values: [AttributeValue], _ form: ValueForm) throws {
    for (way, found) in try returned(values, form) {
      #expect(found.count == values.count, "\(form) by \(way)")
      for (value, found) in zip(values, found) {
        #expect(value.isSameStoredValue(as: found), "\(value) came back as \(found) by \(way)")
      }
    }
  }

  @Test func numbersComeBack() throws {
    try expectSame(
      [.integer(0), .integer(.min), .integer(.max), .null, .integer(70_000), .integer(-1)], .integer
    )
    try expectSame([.boolean(true), .boolean(false), .null], .boolean)
    try expectSame(
      [
        0, -0.0, 1.5, .pi, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
        0.1, -1e300,
      ].map { .double($0) }, .double)
    try expectSame(
      [0, -0.0, 0.1, .infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude].map {
        .float($0)
      },
      .real)
  }

  @Test func decimalsComeBackWithAllTheirDigits() throws {
    let texts = [
      "0", "1", "-1", "0.1", "-0.0001", "10000", "9999", "123456789012345678901234567890.12345678",
      "99999999999999999999999999999999999999", "1e100", "-1e-100", "12e-3", "1e4", "1e5", "1e-4",
      "0.00001", "100000.00001", "3402823669209384634633746074317682114.55",
    ]
    try expectSame(try texts.map { .decimal(try #require(Decimal(string: $0))) }, .numeric)
  }

  @Test func randomNumbersComeBack() throws {
    let seed =
      UInt64(ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"] ?? "")
      ?? .random(
        in: 0...999_999)
    var numbers = SeededNumbers(seed: seed)
    var (decimals, dates, doubles): ([AttributeValue], [AttributeValue], [AttributeValue]) = (
      [], [], []
    )
    for _ in 0..<300 {
      let bits = numbers.next()
      let number = Double(bitPattern: bits)
      if !number.isNaN {
        doubles.append(.double(number))
        dates.append(.date(Date(timeIntervalSinceReferenceDate: number)))
      }
      // The dates that programs have.
      dates.append(
        .date(Date(timeIntervalSinceReferenceDate: Double(Int64(bits % 2_000_000_000)) / 7.3)))
      var decimal = Decimal(bits) * Decimal(numbers.next() % 1_000_000_000)
      if bits.isMultiple(of: 2) { decimal.negate() }
      let scale = Decimal(sign: .plus, exponent: Int(bits % 90) - 60, significand: 1)
      decimals.append(.decimal(decimal * scale))
    }
    for (values, form) in [(doubles, ValueForm.double), (dates, .date), (decimals, .numeric)] {
      for (way, found) in try returned(values, form) {
        for (value, found) in zip(values, found) {
          #expect(
            value.isSameStoredValue(as: found), "seed \(seed): \(value) came as \(found) by \(way)")
        }
      }
    }
  }

  @Test func textsComeBackByteForByte() throws {
    let texts = [
      "", " ", "plain", "'; DROP TABLE value; --", "\\", "\"", "\u{2019}", "\0", "a\0b", "\u{1}",
      "\u{1}\u{1}", "\u{1}\u{2}", "\0\u{1}\u{2}\0", "e\u{301}", "\u{e9}",
      "\u{1F468}\u{200D}\u{1F469}",
      "\u{FEFF}", "\u{10FFFF}", "line\r\nline", String(repeating: "long ", count: 50_000),
    ]
    try expectSame(texts.map { .string($0) }, .text)
    try expectSame(
      try ["https://example.org/a%20b?q=1#x", "file:///tmp/x"].map {
        .url(try #require(URL(string: $0)))
      }, .url)
  }

  @Test func bytesAndUUIDsComeBack() throws {
    try expectSame(
      [
        .data(Data()), .data(Data([0, 1, 255])), .null, .data(Data(repeating: 7, count: 3_000_000)),
      ],
      .bytes)
    let uuid = try #require(UUID(uuidString: "00000000-FFFF-4000-8000-0123456789AB"))
    try expectSame([.uuid(uuid), .null], .uuid)
  }

  @Test func datesComeBackToTheBit() throws {
    let now = 812_345_678.123456789
    let seconds: [Double] = [
      0, -0.0, now, now.nextUp, now.nextDown, 1e-9, -1e-9, 1e18, -1e18, .infinity, -.infinity,
      Date.distantPast.timeIntervalSinceReferenceDate,
      Date.distantFuture.timeIntervalSinceReferenceDate, -211_845_110_400, -211_845_110_401,
      9_223_339_708_799, 9_223_339_708_800, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ]
    try expectSame(
      seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } + [.null], .date)
  }

  @Test func theServerSeesTheDateThatIsMeant() throws {
    let parts = DateComponents(
      timeZone: TimeZone(identifier: "UTC"), year: 2026, month: 2, day: 28, hour: 13, minute: 5)
    let date = try #require(Calendar(identifier: .gregorian).date(from: parts))
    var parameters = ParameterList()
    try ValueForm.date.append(.date(date + 0.25), to: &parameters)
    let rows = try connection.run("SELECT $1::text, $2::text", parameters)
    #expect(rows.text(0, 0) == "2026-02-28 13:05:00.25+00")
    #expect(rows.text(0, 1) == nil, "nothing to add")
  }

  /// A program that knows only of the time changes it.
  @Test func aTimeThatSQLChangedCounts() throws {
    var parameters = ParameterList()
    try ValueForm.date.append(
      .date(Date(timeIntervalSinceReferenceDate: 812_345_678.1234567)), to: &parameters)
    let rows = try connection.run("SELECT $1 + interval '1 day', $2", parameters)
    guard case .date(let date) = try ValueForm.date.value(rows, 0, 0) else {
      Issue.record("no date came back")
      return
    }
    #expect(abs(date.timeIntervalSinceReferenceDate - 812_432_078.123457) < 1e-6)
  }

  @Test func notANumberIsNullAsInSQLiteStores() throws {
    for (value, form) in [
      (AttributeValue.double(.nan), ValueForm.double), (.float(.nan), .real),
      (.decimal(.nan), .numeric), (.date(Date(timeIntervalSinceReferenceDate: .nan)), .date),
    ] {
      for (way, found) in try returned([value], form) {
        #expect(found == [.null], "\(form) by \(way)")
      }
    }
  }

  @Test func whatSQLWroteIsReadAsFarAsItCanBe() throws {
    func value(_ expression: String, _ form: ValueForm) throws -> AttributeValue {
      try form.value(try connection.run("SELECT \(expression)", isKept: false), 0, 0)
    }
    #expect(try value("7::smallint", .integer) == .integer(7))
    #expect(try value("7::integer", .integer) == .integer(7))
    #expect(
      try value("1.50::numeric(5, 2)", .numeric) == .decimal(try #require(Decimal(string: "1.5"))))
    #expect(try value("'NaN'::numeric", .numeric) == .null)
    #expect(try value("10::numeric ^ 200", .numeric) == .null)
    #expect(try value("E'a\\x01b'", .text) == .string("a\u{1}b"))
    #expect(
      try value("'infinity'::timestamptz, NULL::double precision", .date)
        == .date(Date(timeIntervalSinceReferenceDate: .infinity)))
    let error = #expect(throws: CoreDataError.self) { try value("1::integer AS born", .double) }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(error?.message.contains("born") == true)
  }

  @Test func aValueOfAnotherKindIsRefusedBeforeTheServerSeesIt() throws {
    for (value, form) in [
      (AttributeValue.string("1"), ValueForm.integer), (.integer(1), .text), (.double(1), .date),
      (.data(Data()), .uuid), (.boolean(true), .key), (.string("x"), .bytes),
    ] {
      var parameters = ParameterList()
      let error = #expect(throws: CoreDataError.self) { try form.append(value, to: &parameters) }
      #expect(error?.code == .managedObjectValidation)
    }
  }

  @Test func everyAttributeTypeHasAForm() {
    let kept: [AttributeType] = [
      .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date,
      .binaryData, .uuid, .uri, .transformable,
    ]
    #expect(kept.allSatisfy { ValueForm($0) != nil })
    #expect(ValueForm(.undefined) == nil && ValueForm(.composite) == nil)
  }
}

@Suite struct StoredTextTests {
  private func kept(_ text: String) -> [UInt8] {
    var writer = BinaryWriter()
    writer.append(text)
    return writer.bytes
  }

  @Test func orderAndEqualityAreThoseOfWhatIsKept() {
    let texts = [
      "", "\0", "\0\0", "\0\u{1}", "\u{1}", "\u{1}\0", "\u{1}\u{1}", "\u{2}", "a", "a\0", "a\u{1}",
    ]
    for one in texts {
      for other in texts {
        #expect(
          one.utf8.lexicographicallyPrecedes(other.utf8)
            == kept(one).lexicographicallyPrecedes(kept(other)))
        #expect((one == other) == (kept(one) == kept(other)))
      }
    }
  }

  @Test func textsWithoutControlCharactersAreKeptAsTheyAre() {
    for text in ["", "plain", "\u{2}\t\n", "\u{1F332}"] { #expect(kept(text) == Array(text.utf8)) }
  }
}
