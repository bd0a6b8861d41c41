import CairnControl

/// A list that the daemon gives a page at a time, shown up to a limit.
struct PagedList<Page: Encodable, Entry> {
  /// At most so many entries.
  let limit: Int
  let isJSON: Bool
  let entries: (Page) -> [Entry]
  /// Where the next page begins; nil after the last.
  let next: (Page) -> String?
  let lines: (Entry) -> [String]
  /// What a page says besides its entries.
  let note: (Page) -> Void

  /// How many entries the daemon gives at once.
  private static var pageSize: Int { 500 }

  /// - Parameter page: Asks for at most so many entries after a place.
  /// - Returns: How many were shown, and whether there are more.
  func show(
    _ page: (_ limit: Int, _ after: String?) throws -> Page
  ) throws -> (count: Int, isMore: Bool) {
    var count = 0
    var after: String?
    repeat {
      let page = try page(min(limit - count, Self.pageSize), after)
      let entries = entries(page)
      if isJSON {
        try Output.json(page)
      } else {
        for (index, entry) in entries.enumerated() {
          if count + index > 0 { Output.line("") }
          lines(entry).forEach(Output.line)
        }
        note(page)
      }
      count += entries.count
      after = next(page)
    } while after != nil && count < limit
    return (count, after != nil)
  }
}
