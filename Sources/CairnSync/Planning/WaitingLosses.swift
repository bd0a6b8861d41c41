// What waits and what arrives later are joined, and of two writes of a property only the greater goes on waiting:
// the journal has to have the other at once, since nothing else has it once the join is stored.
extension ImportPlanner {
  /// Notes the values that lose where a record arrives while another state of it waits.
  mutating func noteLosses(waiting: RecordState, incoming: RecordState, joined: RecordState) {
    let policy = setting.policy(of: joined)
    let known = entry(joined.id)
    func isLost(_ conflict: Conflict) -> Bool {
      guard let property = conflict.property,
        let write = [waiting, incoming].lazy.compactMap({ $0.registers[property]?.write })
          .first(where: { $0.stamp == conflict.losingStamp })
      else { return true }
      // What the store shows is not lost yet, and what a writer here has replaced is replaced.
      if known?.write(of: property)?.hasSeen(write) == true { return false }
      return known?.deletion?.hasSeen(write.meant) != true
    }
    conflicts += Conflict.find(mine: waiting, theirs: incoming, merged: joined, policy: policy)
      .filter(isLost)
    if joined.isAlive(under: policy) { return }
    conflictsOfKept[joined.id, default: []] += Conflict.lostRegisters(
      mine: waiting, theirs: incoming, merged: joined, rule: .lastWriter
    ).filter(isLost)
  }

  /// Notes what loses where a link arrives while another state of it waits.
  mutating func noteLosses(of key: LinkKey, waiting: LinkState, incoming: LinkState) {
    let known = link(key)
    let shown = [known?.write, known?.memberPosition?.write, known?.ownerPosition?.write]
      .compactMap { $0?.stamp }
    noteConflicts(key, waiting, incoming) { !shown.contains($0.losingStamp) }
  }
}
