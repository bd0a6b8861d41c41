// What to do about a store in trouble.

/// The next step for each trouble that a store can have, by its code.
public enum TroubleHint {
  private static let restart = "systemctl restart cairnd"

  /// - Parameter store: The store in trouble, or several with commas between; any when nil.
  /// - Returns: nil for a code that is no store's trouble, or where the message says it all.
  public static func text(_ code: String, of store: String? = nil) -> String? {
    let name = store.map { $0.contains(",") ? "NAME" : ShellWord.quoted($0) } ?? "NAME"
    return switch code {
    case "disk-full":
      "make room where the message says (`df -h` shows a disk's, for a hub its server's), or raise the quota or limit "
        + "that it names; it goes on by itself"
    case "store-damaged":
      "`cairnctl verify` shows what is damaged, `cairnctl repair --dry-run` which rows the replicas can mend, "
        + "`cairnctl repair local --dry-run` what SQL added or took away; `cairnctl restore BACKUP` goes back to a backup; "
        + "or stop cairnd and move the file away: the replicas fill a new one"
    case "disk-failed":
      "`journalctl -k` shows what the kernel says of the disk; when it works again, the store is "
        + "opened anew by itself"
    case "store-read-only":
      "let the daemon's user write the file and its folder (`ls -ld`), or its role the schema of a "
        + "hub; it goes on by itself"
    case "incompatible-model":
      "`cairnctl store migrate \(name) --dry-run` says what bringing the store to this model changes and "
        + "drops; `--allow-drop` does it"
    case "migrating": "`cairnctl status` shows how far it is; it goes on by itself"
    case "store-locked":
      "another program keeps it locked: `fuser` names it, for a hub `pg_locks` on the server"
    case "store-taken":
      "`systemctl status PID` shows the other daemon; when that one ends, this one takes the store over by "
        + "itself"
    case "commits-missing":
      "`cairnctl verify` says what was lost here; what replicas have comes back from them"
    case "duplicate-replica", "same-store", "another-store", "not-a-store", "unsupported-store",
      "damaged-bookkeeping":
      // Nothing tries it again by itself.
      "when that is mended: "
        + (store == "local" ? restart : "cairnctl sync \(name)")
        + (store == nil ? ", for the local store: \(restart)" : "")
    case "paused": "cairnctl resume \(name)"
    case "not-syncing": "`cairnctl status` shows what keeps it, and what to do"
    case StatusProblem.requiredReplicaMissing:
      "make its place reachable (mount it, or start its server), or take `required` out of the "
        + "configuration; it goes on by itself, a paused one once it is resumed"
    case StatusProblem.storeClosed: "`cairnctl status` shows when it is open again"
    default: nil
    }
  }
}
