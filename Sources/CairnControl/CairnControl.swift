// CairnControl
