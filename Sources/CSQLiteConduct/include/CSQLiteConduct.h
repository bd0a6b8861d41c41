// SQLite's settings of a connection that only C can call, because they take variable arguments.
#pragma once

struct sqlite3;

/// Leaves the write-ahead log as it is when the connection is closed, instead of moving it into the
/// database. Returns SQLite's result code.
int csqlite_leave_log_on_close(struct sqlite3 *connection);
