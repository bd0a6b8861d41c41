// A folder whose files go wrong on demand, and what can go wrong.

import CFaultVFS
import Cairn
import CairnSQLite
import Foundation
import TestSupport
import Testing

/// A fault: the `nth` operation of a kind fails, alone or as the first of many.
struct Fault: Sendable, CustomStringConvertible {
  enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case open, read, write, tornWrite, fullWrite, sync, truncate, delete
    /// Whatever changes a file; the last one by half.
    case change
    var testDescription: String { rawValue }

    fileprivate var bits: Int {
      switch self {
      case .open: CFAULT_OPEN
      case .read: CFAULT_READ
      case .write, .tornWrite, .fullWrite: CFAULT_WRITE
      case .sync: CFAULT_SYNC
      case .truncate: CFAULT_TRUNCATE
      case .delete: CFAULT_DELETE
      case .change: CFAULT_WRITE | CFAULT_SYNC | CFAULT_TRUNCATE | CFAULT_DELETE
      }
    }
    fileprivate var outcome: Int {
      switch self {
      case .tornWrite, .change: CFAULT_TEARS
      case .fullWrite: CFAULT_FULL
      case .open, .read, .write, .sync, .truncate, .delete: CFAULT_FAILS
      }
    }
  }
  enum Course: Hashable, Sendable {
    case once
    case fromThenOn
    /// The power goes: nothing reaches the files any more, and what was not synced is lost, or with a
    /// seed, some of it.
    case powerCut(seed: UInt64)
  }
  let kind: Kind
  let nth: Int
  let course: Course

  init(kind: Kind, nth: Int, course: Course) {
    self.kind = kind
    self.nth = nth
    self.course = course
  }
  init(kind: Kind, nth: Int, lasts: Bool) {
    self.init(kind: kind, nth: nth, course: lasts ? .fromThenOn : .once)
  }

  var description: String {
    switch course {
    case .once: "\(kind.rawValue) \(nth)"
    case .fromThenOn: "\(kind.rawValue) \(nth) and on"
    case .powerCut(let seed): "power cut at \(kind.rawValue) \(nth), seed \(seed)"
    }
  }
}

/// Owns its folder and removes it in the end, when all its files must have been closed.
final class FaultFolder {
  private let folder: TemporaryFolder
  let url: URL
  private let number: Int32
  private let files: FaultyFiles

  init() throws {
    try #require(cfault_install() == 0)
    folder = try TemporaryFolder()
    url = folder.url
    number = cfault_begin(url.path)
    try #require(number >= 0)
    files = FaultyFiles(number: number, root: url)
  }

  deinit { cfault_end(number) }

  var store: URL { url.appendingPathComponent("Shop.sqlite") }
  /// The store options with which files that SQLite does not write go wrong too.
  var options: [AnyHashable: Any] { [StoreOptions.fileOperationsKey: files] }

  func arm(_ fault: Fault) {
    if case .powerCut = fault.course { rememberUnsynced() }
    cfault_arm(
      number, UInt32(fault.kind.bits), fault.nth, fault.course == .once ? 0 : 1,
      Int32(fault.kind.outcome))
  }
  func disarm() { cfault_disarm(number) }
  /// How often something has gone wrong since ``arm(_:)``.
  var injected: Int { cfault_injected(number) }
  /// How often a file has been synced.
  var syncs: Int { cfault_syncs(number) }

  /// Bytes that files may still grow by; negative for any.
  var room: Int {
    get { Int(cfault_room(number)) }
    set { cfault_set_room(number, Int64(newValue)) }
  }

  /// From now on what is not synced is remembered, for ``restore(seed:)``.
  func rememberUnsynced() {
    cfault_remember(number)
    files.rememberUnsynced()
  }
  /// Nothing reaches the files any more.
  func cutPower() { cfault_cut_power(number) }
  /// Takes back what was not synced; with a seed, some of it is there.
  func restore(seed: UInt64 = 0) throws {
    try #require(cfault_restore(number, seed) == 0, "files are still open")
    try files.restore(seed: seed)
  }

  /// Empties the folder and fills it with copies of another's files.
  func refill(from template: URL?) throws {
    let manager = FileManager.default
    for name in try manager.contentsOfDirectory(atPath: url.path) {
      try manager.removeItem(at: url.appendingPathComponent(name))
    }
    guard let template else { return }
    for name in try manager.contentsOfDirectory(atPath: template.path) {
      try manager.copyItem(
        at: template.appendingPathComponent(name), to: url.appendingPathComponent(name))
    }
  }
}
