// CairnPlatform
