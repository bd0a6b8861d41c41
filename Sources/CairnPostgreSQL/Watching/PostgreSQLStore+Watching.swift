import CairnStore
import Foundation

// Commits of other programs, and of other coordinators of this one.

extension PostgreSQLStore: CommitWatching {
  package func watchCommits(_ onCommit: @escaping @Sendable () -> Void) throws {
    let state = try openState()
    let place = state.place
    if !state.known.announces {
      guard !isReadOnly else { return }
      try work("watch") { state, connection in
        try StoreSchema(name: place.schema, connection: connection).announceCommits(
          reconnect: state.pool.separateConnection)
      }
    }
    let pool = state.pool
    let content = state.content
    do {
      let watch = try CommitListening(
        channel: CommitListening.channel(of: place.schema), ownPayload: announcing,
        connect: { try pool.separateConnection() },
        newest: {
          try pool.withConnection {
            try PostgreSQLHistoryReading(content: content, connection: $0).ends().last
          }
        }, onCommit: onCommit)
      replaceWatch(watch)
    } catch let failure as PostgreSQLFailure {
      throw located(failure.error("watch", place.description))
    }
  }

  package func stopWatchingCommits() { replaceWatch(nil) }

  package var noticesCommits: Bool { currentWatch?.isListening ?? false }

  /// Does nothing while the server tells of commits: many programs that ask at intervals are work for it.
  package func lookForCommits() {
    if !noticesCommits { currentWatch?.look() }
  }
}
