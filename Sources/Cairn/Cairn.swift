// Cairn
