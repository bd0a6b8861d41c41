// CairnContext
