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
  open var compoundPredicateType: LogicalType { type }
  private let type: LogicalType

  package init(type: LogicalType, members: [PredicateNode]) {
    self.type = type
    self.members = members
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
      self.init(type: type, members: members)
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
  open var subpredicates: [Any] { members.map { ObjectPredicate.make($0) } }
}
