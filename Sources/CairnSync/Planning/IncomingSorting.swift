/// What of a batch may come in: the rest is held, with what was held of it before.
struct IncomingSorting {
  let source: StoreID
  private(set) var records: [RecordState] = []
  private(set) var links: [LinkChange] = []
  private(set) var held: [(key: HeldKey, entry: QuarantineEntry)] = []
  /// What is not to be held any more.
  private(set) var released: [HeldKey] = []
  /// The records of which what waited here says more than what was sent.
  private(set) var sentLess: Set<RecordID> = []

  init(source: StoreID) { self.source = source }

  mutating func sort(_ batch: IncomingBatch, _ planner: inout ImportPlanner) {
    for record in batch.records { sort(record, batch.refused[record.id], &planner) }
    for link in batch.links {
      let refusal = batch.unchangeable[link.key.owner] ?? batch.unchangeable[link.key.member]
      sort(link, refusal, &planner)
    }
    records.sort { $0.id < $1.id }
    links.sort { $0.key < $1.key }
  }

  private mutating func sort(
    _ incoming: RecordState, _ refusal: String?, _ planner: inout ImportPlanner
  ) {
    var state = incoming
    let key = HeldKey.record(state.id)
    let waiting = planner.held(key)
    if let earlier = waiting?.state {
      state = state.joined(with: earlier)
      planner.noteLosses(waiting: earlier, incoming: incoming, joined: state)
    }
    let time = planner.setting.time
    if state.latestReading.milliseconds > time.limit,
      let reading = state.reading(beyond: time, newTo: planner.entry(state.id))
    {
      hold(key, .record(state), reading, waiting, planner.setting.now)
    } else if let refusal {
      hold(key, .record(state), .validation, refusal, waiting, planner.setting.now)
    } else {
      if let plan = planner.schema.entities[state.entity] {
        state.registers = state.registers.arranged(by: plan.names)
      }
      records.append(state)
      if waiting == nil { return }
      released.append(key)
      if state != incoming { sentLess.insert(state.id) }
    }
  }

  private mutating func sort(
    _ incoming: LinkChange, _ refusal: String?, _ planner: inout ImportPlanner
  ) {
    var link = incoming
    let key = HeldKey.link(link.key)
    let waiting = planner.held(key)
    if let earlier = waiting?.link {
      link = LinkChange(key: link.key, state: link.state.joined(with: earlier.state))
      planner.noteLosses(of: link.key, waiting: earlier.state, incoming: incoming.state)
    }
    let time = planner.setting.time
    if link.state.latestReading.milliseconds > time.limit,
      let reading = link.state.reading(beyond: time, newTo: planner.link(link.key))
    {
      hold(key, .link(link), reading, waiting, planner.setting.now)
    } else if let refusal {
      hold(key, .link(link), .validation, refusal, waiting, planner.setting.now)
    } else {
      links.append(link)
      if waiting != nil { released.append(key) }
    }
  }

  private mutating func hold(
    _ key: HeldKey, _ content: QuarantineEntry.Content, _ reading: ClockReading,
    _ old: QuarantineEntry?, _ now: UInt64
  ) {
    let ahead = reading.milliseconds > now ? (reading.milliseconds - now) / 1000 : 0
    hold(
      key, content, .clockSkew, "written \(ahead) s in the future by this machine's clock", old,
      now)
  }

  private mutating func hold(
    _ key: HeldKey, _ content: QuarantineEntry.Content, _ reason: QuarantineEntry.Reason,
    _ message: String, _ old: QuarantineEntry?, _ now: UInt64
  ) {
    let entry = QuarantineEntry(
      reason: reason, message: message, source: source, since: old?.since ?? now, content: content,
      insteadOf: old)
    held.append((key, entry))
  }
}

extension ImportPlanner {
  /// What waits in quarantine under a key.
  mutating func held(_ key: HeldKey) -> QuarantineEntry? {
    if known.nothingIsHeld { return nil }
    if let entry = known.quarantine[key] { return entry }
    needs.insert(.held(key))
    return nil
  }
}
