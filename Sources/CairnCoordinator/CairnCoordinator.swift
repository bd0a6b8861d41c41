// CairnCoordinator
