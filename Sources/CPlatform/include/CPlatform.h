// Kernel calls and structures that Swift's Glibc module does not show, as small static functions.
// Every function returns -1 and sets errno on failure, as the call it wraps does.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The process at the other end of a Unix socket, as the kernel saw it when it connected.
struct cplatform_peer {
  int32_t process;
  uint32_t user;
  uint32_t group;
};

int cplatform_peer_credentials(int socket, struct cplatform_peer *peer);

/// Fills `groups` with at most `capacity` supplementary groups of the peer; returns how many there are.
int cplatform_peer_groups(int socket, uint32_t *groups, size_t capacity);

/// Exchanges what two names in folders lead to, in one step.
int cplatform_exchange(const char *one, const char *other);

/// Gives a file another name, unless something has that name.
int cplatform_rename_new(const char *from, const char *to);

/// Writes bytes to a socket without ever raising SIGPIPE.
ssize_t cplatform_send(int socket, const void *bytes, size_t count);

/// Opens a non-blocking Unix stream socket that closes on exec.
int cplatform_stream_socket(void);

/// Binds (`listen` != 0) or connects a socket to the file at `path`; ENAMETOOLONG when it does not fit.
int cplatform_bind_path(int socket, const char *path);
int cplatform_connect_path(int socket, const char *path);

/// Accepts one connection, closing on exec.
int cplatform_accept(int socket);

/// 1 when the descriptor is a listening Unix stream socket, 0 when it is not.
int cplatform_is_listening_stream(int descriptor);

/// The numeric group of `name`, or -1 with errno ENOENT when there is none.
int64_t cplatform_group_id(const char *name);

/// The name of the user with that number into `buffer`; -1 with ENOENT when there is none.
int cplatform_user_name(uint32_t user, char *buffer, size_t capacity);

/// Columns of the terminal behind the descriptor, or -1.
int cplatform_terminal_width(int descriptor);

/// Rows of the terminal behind the descriptor, or -1.
int cplatform_terminal_height(int descriptor);

/// Gives memory that the allocator keeps back to the system.
void cplatform_return_free_memory(void);

/// Gives the pages of the program and its libraries back that are as in their files; those that are needed
/// again come from the files.
void cplatform_release_program_pages(void);

/// The `f_type` of statfs(2) for a path; -1 when it cannot be looked at.
int64_t cplatform_file_system_type(const char *path);

/// Ends all writing of an ext4 or XFS file system where it is; what was not flushed is lost, as when the power
/// goes. It takes unmounting and mounting to use it again.
int cplatform_cut_power(const char *folder);

/// Starts this program anew, with mounts that no other process sees and that are gone with it; takes root. Returns only
/// where that fails.
int cplatform_restart_with_own_mounts(char *const *arguments);

/// Locks one byte of a file against all other descriptors, until the descriptor is closed; EAGAIN when it is locked.
int cplatform_lock_byte(int descriptor, off_t byte);

/// Keeps a signal from ending the process.
void cplatform_ignore_signal(int number);
