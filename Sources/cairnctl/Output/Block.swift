// What several commands say in the same words.
import CairnControl

/// What people read of lists that are not tables.
enum Block {
  /// Says that replicas were not read.
  static func note(away: [AwayReplica], damaged: Int) {
    for replica in away {
      TerminalText.wrapped("not read: \(replica.name): \(replica.reason)").forEach(Output.note)
    }
    if damaged > 0 {
      Output.note(
        "\(Readable.count(damaged, "entry", "entries")) cannot be read: `cairnctl verify` checks the files"
      )
    }
  }
}
