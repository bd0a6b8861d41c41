// Identity of controllers of different types: delegates compare the controller that they are given, which
// is of another type. The standard operator is preferred whenever both sides would be converted alike,
// hence one for each way to be optional.
//
// In a module of their own, which Cairn and CoreData both re-export: CoreData re-exports no names of the
// other modules, and operators of its own would be ambiguous in files that import both.
import CairnContext

/// Whether two controllers are the same one: a delegate is given one of another type.
public func === <A, B>(
  first: FetchedResultsController<A>, second: FetchedResultsController<B>
) -> Bool { first.isEqual(second) }

/// Whether two controllers are the same one.
public func === <A, B>(
  first: FetchedResultsController<A>, second: FetchedResultsController<B>?
) -> Bool { first.isEqual(second) }

/// Whether two controllers are the same one.
public func === <A, B>(
  first: FetchedResultsController<A>?, second: FetchedResultsController<B>
) -> Bool { second.isEqual(first) }

/// Whether two controllers are not the same one.
public func !== <A, B>(
  first: FetchedResultsController<A>, second: FetchedResultsController<B>
) -> Bool { !first.isEqual(second) }

/// Whether two controllers are not the same one.
public func !== <A, B>(
  first: FetchedResultsController<A>, second: FetchedResultsController<B>?
) -> Bool { !first.isEqual(second) }

/// Whether two controllers are not the same one.
public func !== <A, B>(
  first: FetchedResultsController<A>?, second: FetchedResultsController<B>
) -> Bool { !second.isEqual(first) }
