// Names and numbers of users and groups.
import CPlatform

/// Looks accounts up in the system's databases.
///
/// May block on a network directory service.
public enum AccountLookup {
  /// The number of the group called `name`; nil when there is none.
  public static func group(named name: String) throws -> UInt32? {
    let found = cplatform_group_id(name)
    if found >= 0 { return UInt32(found) }
    let code = ErrnoCode.current
    // The lookup reports "no such group" in several ways, depending on the source asked.
    if code == .notFound || code.rawValue == 0 || code == .notPermitted { return nil }
    throw PlatformError("look up the group", path: name, code: code)
  }

  /// The name of a user, or nil when the number has none.
  public static func userName(_ user: UInt32) -> String? {
    var room = [CChar](repeating: 0, count: 256)
    guard cplatform_user_name(user, &room, room.count) == 0 else { return nil }
    return String(decoding: room.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
