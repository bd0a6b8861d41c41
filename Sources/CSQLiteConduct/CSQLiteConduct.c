#include "CSQLiteConduct.h"

#include <sqlite3.h>
#include <stddef.h>

int csqlite_leave_log_on_close(struct sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

int csqlite_distrust_schema(struct sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
}

int csqlite_be_defensive(struct sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
}
