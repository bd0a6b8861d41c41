// CairnSQLite
