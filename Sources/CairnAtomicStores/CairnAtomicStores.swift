// CairnAtomicStores
