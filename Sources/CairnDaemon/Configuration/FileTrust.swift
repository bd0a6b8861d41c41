// Whether users without a role can change what the daemon believes or keeps.
import CairnPlatform
import Foundation

/// Looks for files and folders that others own or may write to.
///
/// The owner of a file may write to it whatever its mode is: it has to be root or the daemon's user.
enum FileTrust {
  /// Whom a mode must keep out.
  enum Others {
    /// All users but the owner.
    case all
    /// All users but the owner and the group, which may be that of applications.
    case world

    fileprivate var bits: UInt32 { self == .all ? 0o022 : 0o002 }
  }

  private static let sticky: UInt32 = 0o1000
  /// A bundle of more files than this is no model; the limit keeps a wrong path from taking long.
  private static let mostFiles = 10_000

  /// What lets others put another file into a folder in place of one that is there; nil when nothing does.
  ///
  /// In a folder with the sticky bit, such as `/tmp`, they can only add files.
  ///
  /// - Parameter file: Whose owner may own the folder, too: a program's store in the program's folder.
  static func problem(
    ofFolder path: String, keepingOut others: Others, of file: String? = nil
  ) -> String? {
    guard let facts = try? FileFacts(path: path), facts.mode & sticky == 0 else { return nil }
    let owner = file.flatMap { try? FileFacts(path: $0) }?.owner
    return problem(path, facts, others, trusting: owner)
  }

  /// What is wrong with the owner of a file or folder; nil when nothing is.
  static func problem(
    ofOwner facts: FileFacts, at path: String, trusting owner: UInt32? = nil
  ) -> String? {
    let user = HostIdentity.effectiveUser
    if [0, user, owner].contains(facts.owner) { return nil }
    return "\(path) belongs to the user \(facts.owner), who can change it; chown root \(path)"
  }

  /// What lets others change a file, or a bundle with all that is in it; nil when nothing does.
  static func problem(ofContents path: String, keepingOut others: Others) -> String? {
    guard let facts = try? FileFacts(path: path) else { return nil }
    if let problem = problem(path, facts, others) { return problem }
    guard facts.isFolder, let names = FileManager.default.enumerator(atPath: path) else {
      return nil
    }
    for case let (index, name as String) in names.enumerated() {
      if index == mostFiles { return "\(path) holds more than \(mostFiles) files; name a model" }
      let inner = "\(path)/\(name)"
      if let facts = try? FileFacts(path: inner), let problem = problem(inner, facts, others) {
        return problem
      }
    }
    return nil
  }

  private static func problem(
    _ path: String, _ facts: FileFacts, _ others: Others, trusting owner: UInt32? = nil
  ) -> String? {
    if let problem = problem(ofOwner: facts, at: path, trusting: owner) { return problem }
    guard facts.mode & others.bits != 0 else { return nil }
    let whom = others == .all ? "go" : "o"
    return
      "others may write to \(path) (mode \(String(facts.mode, radix: 8))); chmod \(whom)-w \(path)"
  }
}
