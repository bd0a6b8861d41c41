// The functions of libpq that Cairn calls, as types of pointers to them: the library is loaded when a program first
// opens a PostgreSQL store, so that building takes no libpq-dev and other programs carry nothing.
// Source: the chapter "libpq - C Library" of PostgreSQL's documentation, whose names the types have.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct clibpq_connection;
struct clibpq_result;

/// One setting of a connection string; the list of them ends with one that has no keyword.
struct clibpq_setting {
  char *keyword;
  char *environment;
  char *compiled;
  char *value;
  char *label;
  /// "*" for what is not to be shown, such as passwords.
  char *display;
  int display_size;
};

/// What LISTEN brought. libpq keeps more behind these.
struct clibpq_notification {
  char *channel;
  int process;
  char *payload;
};

typedef int (*clibpq_PQlibVersion)(void);

// Opening and closing.
typedef struct clibpq_setting *(*clibpq_PQconninfoParse)(const char *text, char **problem);
typedef void (*clibpq_PQconninfoFree)(struct clibpq_setting *list);
typedef struct clibpq_connection *(*clibpq_PQconnectdbParams)(
  const char *const *keywords, const char *const *values, int expand_database);
typedef void (*clibpq_PQfinish)(struct clibpq_connection *connection);

// What is known of a connection.
typedef int (*clibpq_of_connection)(const struct clibpq_connection *connection);
typedef int (*clibpq_on_connection)(struct clibpq_connection *connection);
typedef char *(*clibpq_text_of_connection)(const struct clibpq_connection *connection);

// Statements.
typedef int (*clibpq_PQsetnonblocking)(struct clibpq_connection *connection, int on);
typedef int (*clibpq_PQsendQueryParams)(
  struct clibpq_connection *connection, const char *command, int count, const uint32_t *types,
  const char *const *values, const int *lengths, const int *formats, int result_format);
typedef int (*clibpq_PQsendPrepare)(
  struct clibpq_connection *connection, const char *name, const char *command, int count,
  const uint32_t *types);
typedef int (*clibpq_PQsendQueryPrepared)(
  struct clibpq_connection *connection, const char *name, int count, const char *const *values,
  const int *lengths, const int *formats, int result_format);
typedef struct clibpq_result *(*clibpq_PQgetResult)(struct clibpq_connection *connection);

// Results.
typedef int (*clibpq_of_result)(const struct clibpq_result *result);
typedef char *(*clibpq_PQresultErrorField)(const struct clibpq_result *result, int field);
typedef char *(*clibpq_PQresultErrorMessage)(const struct clibpq_result *result);
typedef char *(*clibpq_PQcmdTuples)(struct clibpq_result *result);
typedef char *(*clibpq_PQfname)(const struct clibpq_result *result, int column);
typedef char *(*clibpq_PQgetvalue)(const struct clibpq_result *result, int row, int column);
typedef int (*clibpq_of_cell)(const struct clibpq_result *result, int row, int column);
typedef size_t (*clibpq_PQresultMemorySize)(const struct clibpq_result *result);
typedef void (*clibpq_PQclear)(struct clibpq_result *result);

// COPY.
typedef int (*clibpq_PQputCopyData)(
  struct clibpq_connection *connection, const char *bytes, int count);
typedef int (*clibpq_PQputCopyEnd)(struct clibpq_connection *connection, const char *problem);

// Notifications and notices.
typedef struct clibpq_notification *(*clibpq_PQnotifies)(struct clibpq_connection *connection);
typedef void (*clibpq_notice_receiver)(void *context, const struct clibpq_result *notice);
typedef clibpq_notice_receiver (*clibpq_PQsetNoticeReceiver)(
  struct clibpq_connection *connection, clibpq_notice_receiver receiver, void *context);
typedef void (*clibpq_PQfreemem)(void *memory);
