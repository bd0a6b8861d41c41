import Foundation

/// A condition on one object. (Declared here so that the model compiles; completed in this folder.)
// Unchecked: immutable after initialisation.
open class ObjectPredicate: NSObject, @unchecked Sendable {}

/// Something a predicate compares.
// Unchecked: immutable after initialisation.
open class ObjectExpression: NSObject, @unchecked Sendable {}

/// One key to sort by.
// Unchecked: immutable after initialisation.
open class ObjectSortDescriptor: NSObject, @unchecked Sendable {}
