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
    type: LogicalType, members: [PredicateNode], given: [ObjectPredicate]? = nil,
    depth: Int? = nil
  ) {
    self.type = type
    self.members = members
    self.given = given
    super.init(node: .compound(type, members), depth: depth)
  }

  /// Joins predicates.
  ///
  /// For `not`, all of them must be false for the result to be true.
  ///
  /// A predicate that nests more than a thousand levels is refused when it is evaluated or
  /// executed. Chains of AND in AND and of OR in OR do not get that deep, because from some depth
  /// on a subpredicate of the same kind is replaced by its own subpredicates.
  public convenience init(type: LogicalType, subpredicates: [ObjectPredicate]) {
    let joined = JoinedPredicates(subpredicates, by: type)
    if joined.depth >= PredicateNesting.maximum {
      self.init(type: type, members: [.block(PredicateBlock(refusing: PredicateNesting.refusal))])
    } else if type == .not, joined.members.count != 1 {
      self.init(type: .not, members: [.compound(.or, joined.members)], depth: joined.depth + 1)
    } else {
      self.init(
        type: type, members: joined.members, given: joined.isFlattened ? nil : subpredicates,
        depth: joined.depth)
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

/// The members of a compound, flattened where they nest deep.
private struct JoinedPredicates {
  var members: [PredicateNode] = []
  /// The depth of the compound.
  var depth = 1
  var isFlattened = false

  init(_ subpredicates: [ObjectPredicate], by type: CompoundPredicate.LogicalType) {
    members.reserveCapacity(subpredicates.count)
    for predicate in subpredicates {
      let below = predicate.depth
      if below >= PredicateNesting.flattening, type != .not,
        case .compound(type, let inner) = predicate.node
      {
        members += inner
        depth = max(depth, below)
        isFlattened = true
      } else {
        members.append(predicate.node)
        depth = max(depth, below + 1)
      }
    }
  }
}
