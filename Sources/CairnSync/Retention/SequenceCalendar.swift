/// When a store's change order had come how far: what tells the age of a number.
///
/// A few samples are enough; between two of them a number counts as being as young as the later one.
struct SequenceCalendar: Hashable, Sendable {
  struct Sample: Hashable, Sendable {
    /// In milliseconds since 1970.
    let time: UInt64
    let sequence: UInt64
  }
  private(set) var samples: [Sample] = []

  /// The part of the retention after which the next sample is taken.
  static let samplesPerRetention: UInt64 = 32

  /// The last number that was given out at a time, as far as is known; 0 when nothing is.
  func sequence(at time: UInt64) -> UInt64 {
    samples.last { $0.time <= time }?.sequence ?? 0
  }

  /// Takes a sample if one is due, and forgets those that tell nothing more.
  mutating func note(_ sequence: UInt64, now: UInt64, retention: UInt64) {
    // From a time when the clock was wrong.
    samples.removeAll { $0.time > now || $0.sequence > sequence }
    if let last = samples.last, now - last.time < retention / Self.samplesPerRetention { return }
    samples.append(Sample(time: now, sequence: sequence))
    guard now > retention,
      let oldest = samples.lastIndex(where: { $0.time <= now - retention })
    else { return }
    samples.removeFirst(oldest)
  }

  func encode(to writer: inout ByteWriter) {
    writer.count(samples.count)
    for sample in samples {
      writer.fixed(sample.time)
      writer.fixed(sample.sequence)
    }
  }

  init() {}

  init(from reader: inout ByteReader) throws {
    for _ in 0..<(try reader.count()) {
      let time = try reader.fixed()
      samples.append(Sample(time: time, sequence: try reader.sequence()))
    }
  }
}
