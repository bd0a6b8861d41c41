// SQLite's settings of a connection that only C can call, because they take variable arguments.
#pragma once

struct sqlite3;

/// Leaves the write-ahead log as it is when the connection is closed, instead of moving it into the
/// database. Returns SQLite's result code.
int csqlite_leave_log_on_close(struct sqlite3 *connection);

/// Lets triggers, views, indexes and generated columns of the file call harmless functions only. Returns
/// SQLite's result code.
int csqlite_distrust_schema(struct sqlite3 *connection);

/// Refuses SQL that can damage the file on purpose, such as writes to the schema's table. Returns SQLite's
/// result code.
int csqlite_be_defensive(struct sqlite3 *connection);
