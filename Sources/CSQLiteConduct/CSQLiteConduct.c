#include "CSQLiteConduct.h"

#include <sqlite3.h>
#include <stddef.h>

int csqlite_leave_log_on_close(struct sqlite3 *connection) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}
