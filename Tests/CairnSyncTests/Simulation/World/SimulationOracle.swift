import Foundation

@testable import CairnSync

/// Knows every write that a program was told is saved, what its writer had seen, and what the rules of
/// the specification make of that.
struct SimulationOracle {
  /// A string or number that one write alone has brought.
  struct Write {
    let value: String
    /// Where: `item k3 value`.
    let place: String
    /// The key of the record, or the name of a tag.
    let record: String
    let store: String
    let time: Int
    /// Whether another store had it or its successors when its own went back in time or was lost.
    var isCertain = true
  }
  struct Delete {
    let record: String
    let store: String
    let time: Int
    /// The values that the deleter saw.
    var seen: Set<String>
    var isCertain = true
    /// Whether its store went back to before it.
    var isUndone = false
  }
  /// What one save is going to have done.
  struct Draft {
    var writes: [(write: Write, saw: String?)] = []
    var deletes: [Delete] = []
    var inserted: Set<String> = []
    /// The records that a program meant to change, in whatever way.
    var touched: Set<String> = []
    /// Links and references set: by place, the value.
    var set: [String: String] = [:]
    var words: [String] = []
  }

  private(set) var writes: [String: Write] = [:]
  /// By value, the values of writers who saw and replaced it.
  private var successors: [String: Set<String>] = [:]
  private(set) var deletes: [String: [Delete]] = [:]
  private(set) var inserted: [String: (store: String, isCertain: Bool)] = [:]
  private var touches: [String: Set<String>] = [:]
  /// By place, the last value each store's programs gave it; nothing is said of uncertain places.
  private(set) var last: [String: [String: String]] = [:]
  /// By place, all that programs ever gave it.
  private var given: [String: Set<String>] = [:]
  private var uncertainPlaces: Set<String> = []
  /// The values that an operator's act has taken away, which nothing has to replace.
  private var takenBack: Set<String> = []
  /// The values of places that were changed past history, of which sync cannot say which was first.
  private var loose: Set<String> = []
  /// By value, the stores in which operators have written it once more; see ``hasLost(_:to:_:)``.
  private var rewritten: [String: Set<String>] = [:]
  /// By value, what had replaced it before an operator wrote it once more.
  private var replacements: [String: Set<String>] = [:]
  private var counter = 0

  mutating func fresh(_ prefix: String) -> String {
    counter += 1
    return "\(prefix)\(counter)"
  }
  mutating func freshNumber() -> Double {
    counter += 1
    return Double(counter)
  }

  /// A program was told that a save is done.
  mutating func acknowledge(_ draft: Draft, in store: String, at time: Int) {
    for (write, saw) in draft.writes {
      writes[write.value] = write
      if let saw { successors[saw, default: []].insert(write.value) }
    }
    for var delete in draft.deletes {
      delete.seen.formUnion(dropped[store] ?? [])
      deletes[delete.record, default: []].append(delete)
    }
    for record in draft.inserted { inserted[record] = (store, true) }
    for record in draft.touched { touches[record, default: []].insert(store) }
    for (place, value) in draft.set {
      last[place, default: [:]][store] = value
      given[place, default: []].insert(value)
    }
  }

  /// All that is known where the given values are: they and what their writers had seen.
  private func ancestors(of values: Set<String>) -> Set<String> {
    var known = values
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for (old, new) in successors where !known.contains(old) && !known.isDisjoint(with: new) {
        known.insert(old)
        isGrowing = true
      }
    }
    return known
  }

  /// A store is not what it was: nothing is sure of what no other store has.
  ///
  /// - Parameters:
  ///   - elsewhere: The values in the rows and journals of all other stores.
  ///   - records: The records in the rows of all other stores.
  mutating func lose(
    _ store: String, since: Int, elsewhere: Set<String>, records: Set<String>
  ) {
    let known = ancestors(of: elsewhere)
    // Who was never served from the store may stamp what it writes in its next life as in the one
    // before, and then one of two writes seems to have seen the other (README, open).
    seenByNobody.formUnion(writes.values.filter { $0.store == store }.map(\.value))
    for value in writes.keys where !known.contains(value) { writes[value]?.isCertain = false }
    for record in inserted.keys where !records.contains(record) {
      inserted[record]?.isCertain = false
    }
    for (record, list) in deletes {
      deletes[record] = list.map { delete in
        var delete = delete
        if delete.store == store, delete.time >= since {
          delete.isCertain = false
          delete.isUndone = true
        }
        return delete
      }
    }
    for (place, byStore) in last where byStore[store] != nil { uncertainPlaces.insert(place) }
  }

  /// A store's history was purged before sync had read all of it: that its latest values were seen or
  /// not seen is no longer known there.
  mutating func forgetSight(of values: Set<String>) { seenByNobody.formUnion(values) }
  private var seenByNobody: Set<String> = []

  /// A migration took values out of a store that had them.
  ///
  /// Who deletes a record there before they are back deletes them, too (README, open: 149000058).
  mutating func drop(_ values: Set<String>, from store: String) {
    dropped[store, default: []].formUnion(values)
  }
  private var dropped: [String: Set<String>] = [:]

  /// A program purged what another had written to a store before sync had read it.
  mutating func forget(_ draft: Draft, in store: String) {
    forgetful.insert(store)
    forgotten.formUnion(draft.writes.map(\.write.value))
    forgotten.formUnion(draft.set.keys)
  }
  /// The values and places that sync cannot tell from former ones where two stores have lost their history.
  ///
  /// It knows no write of them, and compares two stores of which either may have the new one. Both count as
  /// written then, and the greater stamp wins.
  private var forgotten: Set<String> = []
  private var forgetful: Set<String> = []
  private func isForgotten(_ valueOrPlace: String) -> Bool {
    forgetful.count > 1 && forgotten.contains(valueOrPlace)
  }

  /// From a step on a clock runs so far behind that stores which others have stamped begin theirs anew;
  /// which of two writes was seen by whom is not told by their stamps then (README, open).
  mutating func forgetSight(from time: Int) { sightEnds = min(sightEnds, time) }
  private var sightEnds = Int.max

  private func isBlurred(_ value: String) -> Bool {
    seenByNobody.contains(value) || writes[value].map { $0.time >= sightEnds } ?? false
  }

  // MARK: Judging

  /// Whether a later writer, or the rules and the journal, account for a value that is gone.
  func isKnown(_ value: String, present: Set<String>, journal: Set<String>) -> Bool {
    var seen: Set<String> = []
    func known(_ value: String) -> Bool {
      if present.contains(value) || journal.contains(value) || takenBack.contains(value) {
        return true
      }
      guard seen.insert(value).inserted else { return false }
      return (successors[value] ?? []).contains { next in
        // What a program wrote over it has replaced it, whatever was made of that past history.
        writes[next]?.isCertain == true || loose.contains(next) || known(next)
      }
    }
    return known(value)
  }

  /// Whether a value that one store had may be missing in another that is in step with it.
  ///
  /// - Parameter present: What the other has.
  func isAccounted(_ value: String, among present: Set<String>, journal: Set<String>) -> Bool {
    guard let write = writes[value], write.isCertain, !isBlurred(value) else { return true }
    if isKnown(value, present: present, journal: journal) || deletes[write.record] != nil {
      return true
    }
    // The one has the first writing alone, which the other has seen replaced.
    return (replacements[value] ?? []).contains {
      isKnown($0, present: present, journal: journal)
    }
  }

  private func wasDeletedSeen(_ write: Write) -> Bool {
    (deletes[write.record] ?? []).contains { ancestors(of: $0.seen).contains(write.value) }
  }

  /// What is wrong with what all stores have in the end.
  ///
  /// - Parameter journal: The values that lost, of all stores.
  func faults(in picture: StorePicture, journal: Set<String>) -> [String] {
    var found: [String] = []
    let present = picture.values
    let records = picture.records
    for (record, insertion) in inserted.sorted(by: { $0.key < $1.key })
    where insertion.isCertain && !records.contains(record) && deletes[record] == nil {
      found.append("lost record: \(record), which nobody deleted")
    }
    for write in writes.values.sorted(by: { $0.value < $1.value }) where write.isCertain {
      if isKnown(write.value, present: present, journal: journal) { continue }
      let isTag = write.place.hasPrefix("tag")
      let isGone = isTag ? deletes[write.record] != nil : !records.contains(write.record)
      // Its deleter saw it, also where the delete lost to another write.
      if wasDeletedSeen(write) || isBlurred(write.value) { continue }
      found.append(
        "lost write: \(write.value) of \(write.place) by a program at \(write.store)"
          + (isGone ? ", whose record was deleted by a store that had not seen it" : ""))
    }
    found += resurrected(picture, records)
    found += strangers(present, journal)
    found += places(picture)
    return found
  }

  /// Records that are there although every write to them was seen by a store that deleted them.
  private func resurrected(_ picture: StorePicture, _ records: Set<String>) -> [String] {
    deletes.keys.sorted().filter { records.contains($0) }.compactMap { record in
      guard let list = deletes[record]?.filter(\.isCertain), let delete = list.first else {
        return nil
      }
      let own = writes.values.filter { $0.record == record }
      let isExcused =
        !(touches[record] ?? []).isSubset(of: [delete.store])
        || own.contains { !$0.isCertain } || inserted[record]?.isCertain == false
        || own.contains { isBlurred($0.value) }
      if isExcused { return nil }
      return "resurrected: \(record), which only programs at \(delete.store) wrote and deleted"
    }
  }

  /// Values that are there although nobody wrote them, or a program replaced them.
  private func strangers(_ present: Set<String>, _ journal: Set<String>) -> [String] {
    present.sorted().compactMap { value in
      guard writes[value] != nil else { return "invented: \(value), which nobody wrote" }
      guard let next = successors[value]?.first(where: { writes[$0]?.isCertain == true }),
        !isBlurred(next), !isForgotten(next), writes[next].map({ !wasDeletedSeen($0) }) ?? true,
        !loose.contains(value), !hasLost(next, to: value, journal),
        !hasDied(next, journal)
      else { return nil }
      return "stale: \(value) is there although \(next) replaced it"
    }
  }

  /// Whether a value lost by the rules to the one that its writer replaced.
  ///
  /// An operator who takes back what came after a value writes that value again, with a stamp of its own. Who
  /// replaces the value in another store may have seen the first writing alone: the two are concurrent then, the
  /// greater stamp wins, and the one that lost is in the journal. Where the operator wrote, programs saw the second;
  /// and a value that no journal has did not lose. Seed 74000105: `v12` of store `b` was replaced in `c` and taken
  /// back there; `b`, paused and with its clock a minute behind, wrote `v41` over the first.
  private func hasLost(_ next: String, to value: String, _ journal: Set<String>) -> Bool {
    guard let stores = rewritten[value], let write = writes[next] else { return false }
    return stores.contains { $0 != write.store } && journal.contains(next)
  }

  /// Whether a value lost to a delete that its store made in a life which a backup has ended.
  ///
  /// The other store had forgotten the delete, and the note of how far it had read, which went back with the file, does
  /// not say that it ever had the record: that is news to it, as what a program has written since would be, and comes
  /// as the backup has it, from before the value. The value is in the journal of the store in which it lost. Seed
  /// 83000133.
  private func hasDied(_ next: String, _ journal: Set<String>) -> Bool {
    guard let write = writes[next], journal.contains(next) else { return false }
    return (deletes[write.record] ?? []).contains { delete in
      delete.isUndone && !ancestors(of: delete.seen).contains(next)
    }
  }

  /// Links and references that are not what any store's programs set last.
  private func places(_ picture: StorePicture) -> [String] {
    last.sorted { $0.key < $1.key }.compactMap { place, byStore in
      if uncertainPlaces.contains(place) || isForgotten(place) { return nil }
      let words = place.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      // With a delete goes what was linked since the last capture, also where the record comes back.
      guard picture.records.contains(words[1]), deletes[words[1]] == nil else { return nil }
      let values = Set(byStore.values)
      let found: String
      switch words[0] {
      case "parent", "stem":
        found = picture.items[words[1]]?.parent ?? picture.leaves[words[1]]?.stem ?? "-"
        // A delete rule may have taken it away, also a former one later than the last was set elsewhere: of
        // two registers the greater stamp wins.
        if found == "-", given[place, default: []].contains(where: { deletes[$0] != nil }) {
          return nil
        }
      case "link":
        found = picture.links.contains("\(words[1]) \(words[2])") ? "yes" : "no"
        if deletes[words[2]] != nil { return nil }
      default: return nil
      }
      if values.contains(found) { return nil }
      return "invented: \(place) is \(found), but was set last to \(values.sorted())"
    }
  }
}

// MARK: Operators

extension SimulationOracle {
  /// An operator's act has made one picture of a store into another, as a program's save does whose writer has
  /// seen the former.
  ///
  /// - Returns: The records whose values it has changed.
  mutating func acknowledgeAct(
    at store: String, from before: StorePicture, to after: StorePicture, time: Int
  ) -> Set<String> {
    let (old, new) = (before.written, after.written)
    var changed: Set<String> = []
    for place in Set(old.keys).union(new.keys).sorted() where old[place] != new[place] {
      let record = String(place.split(separator: " ")[1])
      changed.insert(record)
      touches[record, default: []].insert(store)
      if let value = new[place] {
        writeAnew(value, in: store)
        if let replaced = old[place] { successors[replaced, default: []].insert(value) }
      } else if let value = old[place], after.named.contains(record) {
        takenBack.insert(value)
      }
    }
    acknowledgeDeletes(at: store, from: before, to: after, time: time)
    for record in after.named.subtracting(before.named) { withdrawDeletes(of: record) }
    let (from, to) = (before.references, after.references)
    for place in Set(from.keys).union(to.keys) where from[place] != to[place] {
      let value = to[place] ?? (place.hasPrefix("link") ? "no" : "-")
      last[place, default: [:]][store] = value
      given[place, default: []].insert(value)
    }
    return changed
  }

  /// The records of one picture that another has no more were deleted by a writer who has seen the former.
  mutating func acknowledgeDeletes(
    at store: String, from before: StorePicture, to after: StorePicture, time: Int,
    except known: Set<String> = []
  ) {
    for record in before.named.subtracting(after.named).subtracting(known).sorted() {
      let values = before.written.filter { $0.key.split(separator: " ")[1] == record }.values
      deletes[record, default: []].append(
        Delete(record: record, store: store, time: time, seen: Set(values)))
    }
  }

  /// An operator keeps a record as a store has it, against what others wrote of it or that they deleted it.
  ///
  /// - Parameter names: The properties that are written anew by that; nil for all. Of a reference it is a write like
  ///   that of a program, also where the store has none.
  mutating func keep(
    _ record: String, in picture: StorePicture, of store: String, replacing names: Set<String>?
  ) {
    withdrawDeletes(of: record)
    let references: [(name: String, value: String?)] =
      picture.items[record].map { [("parent", $0.parent)] }
      ?? picture.leaves[record].map { [("stem", $0.stem)] } ?? []
    for (name, value) in references where names?.contains(name) ?? true {
      let place = "\(name) \(record)"
      last[place, default: [:]][store] = value ?? "-"
      given[place, default: []].insert(value ?? "-")
    }
    for (place, value) in picture.written {
      let words = place.split(separator: " ").map(String.init)
      // What replaces another property of the record elsewhere replaces it still.
      if words[1] == record, names?.contains(words[2]) ?? true { writeAnew(value, in: store) }
    }
  }

  /// An operator gives up a record that a store never had, with what had come of it: it is deleted everywhere.
  mutating func giveUp(_ record: String, having values: Set<String>, at store: String, time: Int) {
    deletes[record, default: []].append(
      Delete(record: record, store: store, time: time, seen: values, isCertain: false))
  }

  /// A value was changed in a file behind sync and history: either of the two may be taken for it.
  mutating func tamper(with record: String, from old: String, to new: String, in store: String) {
    writes[new] = Write(
      value: new, place: "item \(record) value", record: record, store: store, time: 0,
      isCertain: false)
    writes[old]?.isCertain = false
    successors[old, default: []].insert(new)
    loose.formUnion([old, new])
    touches[record, default: []].insert(store)
  }

  /// What replaced the value before has been replaced by it, and what replaces it elsewhere was written without
  /// having seen that.
  private mutating func writeAnew(_ value: String, in store: String) {
    rewritten[value, default: []].insert(store)
    replacements[value, default: []].formUnion(successors[value] ?? [])
    successors[value] = nil
    takenBack.remove(value)
  }

  private mutating func withdrawDeletes(of record: String) {
    deletes[record] = deletes[record]?.map { delete in
      var delete = delete
      delete.isCertain = false
      return delete
    }
  }
}
