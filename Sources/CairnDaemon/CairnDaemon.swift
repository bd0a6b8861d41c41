// CairnDaemon
