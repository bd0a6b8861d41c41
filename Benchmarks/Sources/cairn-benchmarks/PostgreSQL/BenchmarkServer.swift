// A PostgreSQL server that the benchmark starts for itself.

import Foundation

/// A server of Debian's package in a temporary folder, on a Unix socket, as a user without rights.
///
/// Its settings are the defaults, but for 256 MB of shared buffers and as many connections as fifty daemons have. What is
/// committed is on the disk. A shell supervises it: the server ends when the shell's input does, which the kernel sees to
/// when this program goes, however it goes.
final class BenchmarkServer {
  /// The folder with the socket.
  let folder: String
  private let programs: String
  private let supervisor = Process()
  private let input = Pipe()
  private var schemas = 0

  /// The programs of the newest version that is installed; nil without one.
  static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
      .first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
  }()

  init(programs: String) throws {
    self.programs = programs
    folder = NSTemporaryDirectory() + "cairn-bench-pg-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let settings = """
      unix_socket_directories = '\(folder)'
      listen_addresses = ''
      shared_buffers = 256MB
      max_connections = 400

      """
    try settings.write(toFile: "\(folder)/bench.conf", atomically: false, encoding: .utf8)
    try Self.script.write(toFile: "\(folder)/run.sh", atomically: false, encoding: .utf8)
    var command = ["/bin/sh", "\(folder)/run.sh", folder, programs]
    // Servers refuse to run as root.
    if getuid() == 0 {
      try Program.run("chown", ["-R", "nobody", folder])
      command = ["/usr/sbin/runuser", "-u", "nobody", "--"] + command
    }
    let output = Pipe()
    supervisor.executableURL = URL(fileURLWithPath: command[0])
    supervisor.arguments = Array(command.dropFirst())
    supervisor.standardInput = input
    supervisor.standardOutput = output
    // Programs that are started later must not keep the shell's input open.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try supervisor.run()
    let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard answer.hasPrefix("ready") else {
      let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? ""
      throw RawError(description: "the PostgreSQL server did not start: \(log.suffix(2000))")
    }
  }

  deinit {
    try? input.fileHandleForWriting.close()
    supervisor.waitUntilExit()
  }

  private static let script = """
    folder=$1; programs=$2; cd "$folder" || exit 1
    {
      "$programs/initdb" -D data -U owner -A trust -E UTF8 --locale=C.UTF-8 &&
      echo "include '$folder/bench.conf'" >> data/postgresql.conf &&
      "$programs/pg_ctl" -D data -w -t 120 -l server.log start
    } > log 2>&1 < /dev/null || { cat server.log >> log; echo failed; exit 1; }
    echo ready
    cat > /dev/null
    "$programs/pg_ctl" -D data -w -m immediate stop > /dev/null 2>&1
    rm -rf "$folder" 2> /dev/null

    """

  /// libpq's settings.
  var connection: String { "host=\(folder) dbname=postgres user=owner" }

  /// The name of a schema that was not used.
  func newSchema() -> String {
    schemas += 1
    return "bench_\(schemas)"
  }

  /// The URL of a store in a schema.
  func url(_ schema: String) throws -> URL {
    let host = folder.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    guard let url = URL(string: "postgresql://owner@/postgres?host=\(host)#\(schema)") else {
      throw RawError(description: "no URL for the schema \(schema)")
    }
    return url
  }

  /// What SQL gives that another program runs, one row a line.
  @discardableResult
  func query(_ text: String) throws -> String {
    try Program.run(
      "\(programs)/psql",
      [
        "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "owner", "-d",
        "postgres", "-c", text,
      ]
    ).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
