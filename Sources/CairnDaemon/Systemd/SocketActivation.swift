// Sockets that systemd opened before it started us.
import CSystemd
import CairnPlatform
import Foundation

/// The sockets passed in, by the names the socket units give them.
public struct SocketActivation: Sendable {
  /// Listening sockets for the control protocol (`FileDescriptorName=varlink`).
  public let control: [OwnedDescriptor]
  /// Listening sockets for figures and health (`FileDescriptorName=metrics`).
  public let metrics: [OwnedDescriptor]
  /// The control socket that an earlier process of this service made and systemd has kept.
  public let kept: OwnedDescriptor?
  /// Names of sockets that the daemon does not want; it has closed them.
  public let unknown: [String]

  /// Takes over the passed sockets once; a second call finds none.
  public static func take() -> SocketActivation {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(1, &names)
    guard count > 0, let names else { return SocketActivation() }
    var (control, metrics): ([OwnedDescriptor], [OwnedDescriptor]) = ([], [])
    var kept: OwnedDescriptor?
    var unknown: [String] = []
    for index in 0..<Int(count) {
      let name = names[index].map { String(cString: $0) } ?? ""
      free(names[index])
      let number = firstDescriptor + Int32(index)
      ProcessConduct.closeOnExec(number)
      let descriptor = OwnedDescriptor(adopting: number)
      switch name {
      case "varlink": control.append(descriptor)
      case "metrics": metrics.append(descriptor)
      case KeptSocket.name: kept = descriptor
      default:
        unknown.append(name)
        descriptor.close()
      }
    }
    free(names)
    return SocketActivation(control: control, metrics: metrics, kept: kept, unknown: unknown)
  }

  private init(
    control: [OwnedDescriptor] = [], metrics: [OwnedDescriptor] = [],
    kept: OwnedDescriptor? = nil, unknown: [String] = []
  ) {
    self.control = control
    self.metrics = metrics
    self.kept = kept
    self.unknown = unknown
  }

  /// All control sockets at which callers may wait.
  var listening: [OwnedDescriptor] { control + (kept.map { [$0] } ?? []) }

  /// `SD_LISTEN_FDS_START`.
  private static let firstDescriptor: Int32 = 3
}
