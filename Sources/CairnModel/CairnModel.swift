// CairnModel
