/// An optional promise of a store: a save never breaks a uniqueness constraint of the model.
///
/// Core Data makes it for SQLite only; stores that are whole files do not.
public protocol UniquenessKeeping: AnyObject, Sendable {}
