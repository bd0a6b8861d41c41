/// When a watch reports what was written, as a value: times are nanoseconds of a clock that only goes on.
struct ReportSchedule: Hashable, Sendable {
  /// How far reports are apart while files are written without pause.
  let debounce: UInt64
  /// Whether the first change after such a time without any is reported at once.
  let isEager: Bool
  /// When it is reported once more after the last change, from the report before each.
  let laterReports: [UInt64]

  private var due: UInt64?
  private var lastReport: UInt64?
  private var later: ArraySlice<UInt64> = []

  init(debounce: UInt64, isEager: Bool, laterReports: [UInt64] = []) {
    self.debounce = debounce
    self.isEager = isEager
    self.laterReports = laterReports
  }

  /// When the next report is due; nil while nothing was written.
  var next: UInt64? { due }

  mutating func changed(at now: UInt64) {
    later = laterReports[...]
    let first = isEager ? max(now, lastReport.map { $0 + debounce } ?? now) : now + debounce
    // A later report of what was written before gives way; changes within the debounce join it.
    due = min(due ?? first, first)
  }

  /// Nothing is due any more, whatever was written before.
  mutating func forget() { (due, later) = (nil, []) }

  /// - Returns: Whether a report is due now; it counts as made then.
  mutating func takeReport(at now: UInt64) -> Bool {
    guard let due, due <= now else { return false }
    lastReport = now
    self.due = later.popFirst().map { now + $0 }
    return true
  }
}
