// Looking at a store's file without opening it as a store.

import CairnSQLite

/// What a Core Data store file says of itself: entities, versions, history, and what is wrong.
public typealias StoreInspection = CairnSQLite.StoreInspection
/// One thing that is wrong with a store's file, or worth knowing.
public typealias StoreFinding = CairnSQLite.StoreFinding
