import CairnContext
import CairnModel
import Testing

@testable import CairnSync

/// Specification: sync.md 5, "In step means in step": a reference to a record that was deleted and forgotten waits for
/// nothing.
struct ForgottenTargetTests {
  private let fleet: Fleet
  private let a: Fleet.Site
  private let b: Fleet.Site
  private let hub: Fleet.Site

  init() throws {
    fleet = Fleet(seed: 31)
    (a, b, hub) = (
      try fleet.addRetaining("a"), try fleet.addRetaining("b"), try fleet.addRetaining("hub")
    )
    let site = a
    try a.write { context in
      for key in ["goes", "stays"] { _ = try site.insert("Item", ["key": key], in: context) }
    }
  }

  private func delete(_ site: Fleet.Site) throws {
    try site.write { try site.find("Item", "goes", in: $0).map($0.delete) }
  }

  private func expectInStep(_ sites: [Fleet.Site]) throws {
    for site in sites {
      #expect(try site.picture() == ["item stays nil nil ^- []"], "\(site.name)")
      let source = site.name == "hub" ? a : hub
      let targets = ForgottenTargets(access: site.access, source: source.access)
      let held = try site.access.held(awaiting: .init(hasArrived: targets.haveArrived()))
      #expect(held.count == 0, "\(site.name)")
    }
  }

  /// One store writes the reference while it has not heard of the delete; what it has written comes late.
  @Test func aReferenceThatComesAfterTheDeleteIsForgottenWaitsForNothing() throws {
    try fleet.sync([(a, hub), (b, hub)])
    fleet.advance(10)
    try delete(b)
    fleet.advance(10)
    try a.refer()
    try fleet.sync([(b, hub)])
    for _ in 0..<3 { try fleet.pass(a, hub, direction: .pull) }
    for site in [a, b] { try hub.access.acknowledge(site.access, name: site.name) }
    #expect(try hub.purge(age: 0).records == 1)
    try fleet.sync([(a, hub), (b, hub)])
    try expectInStep([a, b, hub])
  }

  /// A store that gives nothing deletes the record, and has no one to keep that for.
  @Test func aReferenceToWhatOnlyThisStoreHasDeletedWaitsForNothing() throws {
    try fleet.sync([(a, hub)])
    for _ in 0..<3 { try fleet.pass(b, hub, direction: .pull) }
    fleet.advance(10)
    try delete(b)
    try HistoryCapture(access: b.access).run()
    #expect(try b.purge(age: 0).records == 1)
    fleet.advance(10)
    try a.refer()
    try fleet.sync([(a, hub)])
    for _ in 0..<4 { try fleet.pass(b, hub, direction: .pull) }
    try expectInStep([b])
    // From now on it gives what it has, too: a delete that nothing was written after.
    try fleet.sync([(a, hub), (b, hub)])
    try expectInStep([a, b, hub])
  }

  /// The store that gives the reference is never told of the delete.
  ///
  /// Who has the reference from the hub can ask nobody who knows the record.
  @Test func aReferenceToWhatAStoreThatIsNeverToldHasKeptWaitsForNothingAnywhere() throws {
    func push() throws { for _ in 0..<3 { try fleet.pass(a, hub, direction: .push) } }
    try push()
    try fleet.sync([(b, hub)])
    fleet.advance(10)
    try delete(b)
    try fleet.sync([(b, hub)])
    #expect(try hub.purge(age: 0).records == 1 && b.purge(age: 0).records == 1)
    fleet.advance(10)
    try a.refer()
    try push()
    try fleet.sync([(b, hub)])
    let known = ForgottenTargets(access: b.access, source: hub.access)
    #expect(try b.access.held(awaiting: .init(hasArrived: known.haveArrived())).parked == 1)
    for (site, source) in [(hub, a), (b, hub)] {
      try ForgottenTargets(access: site.access, source: source.access).note(filter: nil)
    }
    try expectInStep([hub, b])
  }
}

extension Fleet.Site {
  /// Has the item that stays refer to the one that goes.
  func refer() throws {
    try write { context in
      let target = try find("Item", "goes", in: context)
      try find("Item", "stays", in: context)?.setValue(target, forKey: "parent")
    }
  }
}
