// Programs of others that tests need; `make test-tools` installs them.
import Foundation

enum ForeignTools {
  /// Prometheus' tool that judges figures and rules.
  static let promtool = [
    "/usr/bin/promtool", "/usr/local/bin/promtool", Project.file(".build/tools/usr/bin/promtool"),
  ].first { FileManager.default.isExecutableFile(atPath: $0) }

  /// systemd's client of Varlink services, of version 255 and later.
  static let varlinkctl = ["/usr/bin/varlinkctl"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  static let zsh = shell("zsh")
  static let fish = shell("fish")

  private static func shell(_ name: String) -> String? {
    ["/usr/bin/\(name)", "/bin/\(name)", Project.file(".build/tools/usr/bin/\(name)")].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// A folder with Python's module `varlink`.
  static let varlinkModule: String? = [
    Project.file(".build/tools/python"), "/usr/lib/python3/dist-packages",
  ].first { FileManager.default.fileExists(atPath: "\($0)/varlink/client.py") }
}
