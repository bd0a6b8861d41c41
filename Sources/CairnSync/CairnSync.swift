// CairnSync
