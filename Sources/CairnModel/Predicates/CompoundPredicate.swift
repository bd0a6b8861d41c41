import Foundation

/// Predicates joined by AND or OR, or one negated. Source: `NSCompoundPredicate`.
///
/// An empty AND is true, an empty OR false. Immutable.
// Unchecked: immutable after initialisation.
open class CompoundPredicate: ObjectPredicate, @unchecked Sendable {
  /// How the members are joined, with Foundation's raw values.
  public enum LogicalType: UInt, Sendable, Hashable, CaseIterable {
    case not = 0
    case and = 1
    case or = 2
  }

  private let members: [PredicateNode]
  /// The members as they were given; nil when they were parsed.
  private let given: [ObjectPredicate]?
  open var compoundPredicateType: LogicalType { type }
  private let type: LogicalType

  package init(
    type: LogicalType, members: [PredicateNode], given: [ObjectPredicate]? = nil
  ) {
    self.type = type
    self.members = members
    self.given = given
    super.init(node: .compound(type, members))
  }

  /// Joins predicates.
  ///
  /// For `not`, all of them must be false for the result to be true.
  public convenience init(type: LogicalType, subpredicates: [ObjectPredicate]) {
    let members = subpredicates.map(\.node)
    if type == .not, members.count != 1 {
      self.init(type: .not, members: [.compound(.or, members)])
    } else {
      self.init(type: type, members: members, given: subpredicates)
    }
  }

  private static let typeKey = "CairnCompoundType"
  private static let countKey = "CairnSubpredicateCount"

  public required init?(coder: NSCoder) {
    guard
      let type = LogicalType(rawValue: UInt(max(0, coder.decodeInteger(forKey: Self.typeKey))))
    else { return nil }
    var members: [PredicateNode] = []
    for index in 0..<max(0, coder.decodeInteger(forKey: Self.countKey)) {
      guard let member = PredicateArchive.predicate(from: coder, member: index) else { return nil }
      members.append(member)
    }
    guard type != .not || members.count == 1 else { return nil }
    self.type = type
    self.members = members
    given = nil
    super.init(node: .compound(type, members))
  }

  open override func encode(with coder: NSCoder) {
    coder.encode(Int(type.rawValue), forKey: Self.typeKey)
    coder.encode(members.count, forKey: Self.countKey)
    // Not as objects: Foundation's archiver on Linux takes equal objects for one, and a compound of
    // one member equals that member.
    for (index, member) in members.enumerated() {
      PredicateArchive.encode(member, with: coder, member: index)
    }
  }

  public convenience init(andPredicateWithSubpredicates subpredicates: [ObjectPredicate]) {
    self.init(type: .and, subpredicates: subpredicates)
  }

  public convenience init(orPredicateWithSubpredicates subpredicates: [ObjectPredicate]) {
    self.init(type: .or, subpredicates: subpredicates)
  }

  public convenience init(notPredicateWithSubpredicate predicate: ObjectPredicate) {
    self.init(type: .not, subpredicates: [predicate])
  }

  /// The members, each an ``ObjectPredicate``.
  open var subpredicates: [Any] { given ?? members.map { ObjectPredicate.make($0) } }
}
