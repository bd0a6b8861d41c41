// CairnSQL
