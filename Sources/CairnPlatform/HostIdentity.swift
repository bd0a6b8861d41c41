// Names of this machine and this process.
import Glibc

/// What this machine and this process are called.
public enum HostIdentity {
  /// The machine's name, "localhost" when it has none.
  public static var hostName: String {
    var room = [CChar](repeating: 0, count: 256)
    guard gethostname(&room, room.count - 1) == 0, room[0] != 0 else { return "localhost" }
    return String(decoding: room.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The number of this process.
  public static var processID: Int32 { getpid() }

  /// The number of the process that started this one; that of another one once that has ended.
  public static var parentProcessID: Int32 { getppid() }

  /// The name of the program, without its folder.
  public static var processName: String {
    let path = CommandLine.arguments.first ?? "cairn"
    return path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The user this process acts as.
  public static var effectiveUser: UInt32 { geteuid() }

  /// Bytes of a page of memory, in which the kernel counts.
  public static var pageSize: Int { sysconf(Int32(_SC_PAGESIZE)) }

  /// The kernel's units of processor time in a second.
  public static var clockTicks: Int { sysconf(Int32(_SC_CLK_TCK)) }
}
