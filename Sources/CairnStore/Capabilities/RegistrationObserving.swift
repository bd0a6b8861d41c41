import CairnModel

/// A capability of a store: it keeps something for every object that a context holds, and
/// lets it go when no context does.
public protocol RegistrationObserving: AnyObject, Sendable {
  /// Contexts hold the objects now, once more for each time an ID is named.
  func contextsDidRegister(_ objectIDs: [ManagedObjectID])
  /// Ends what ``contextsDidRegister(_:)`` began, once for each time an ID is named.
  func contextsDidUnregister(_ objectIDs: [ManagedObjectID])
}
