// Which transactions of a store's history there are, by their numbers.
import CairnStore

extension Set<Int64> {
  /// Whether all numbers of a range are there.
  func hasAll(after first: Int64, upTo last: Int64) -> Bool {
    // Numbers come out of a file, where they can be anything.
    let (count, overflow) = last.subtractingReportingOverflow(first)
    if overflow || count > self.count { return false }
    return count < 1 || (first + 1...last).allSatisfy(contains)
  }
}

extension HistoryKeeping {
  /// Transactions without their changes, oldest first.
  ///
  /// - Parameters:
  ///   - last: The last one that there is: the store takes a faster way where the request asks for few.
  ///   - limit: How many at most; 0 for all.
  func transactions(
    after: Int64?, upTo last: Int64, limit: Int
  ) throws -> [HistoryTransactionRecord] {
    // Numbers come out of a file, where they can be anything.
    let (count, overflow) = last.subtractingReportingOverflow(after ?? 0)
    let most = overflow || count < 1 ? limit : Int(count)
    var request = HistoryReadRequest(
      after: after, limit: limit == 0 ? most : min(limit, most))
    request.includesChanges = false
    return try readHistory(request)
  }
}
