// What Swift's Glibc module does not show of <spawn.h>.
#pragma once

/// Closes all descriptors from one on in the program that is started; 0, or an error's number.
///
/// `actions` is a `posix_spawn_file_actions_t`.
int cspawn_close_from(void *actions, int first);
