// Apple's names for stores of a program's own, and what only Apple's overlay of stores has.
import CairnStack

public typealias NSAtomicStore = AtomicStore
public typealias NSAtomicStoreCacheNode = AtomicStoreCacheNode
public typealias NSIncrementalStore = IncrementalStore
public typealias NSIncrementalStoreNode = IncrementalStoreNode
public typealias NSSaveChangesRequest = ObjectSaveRequest
