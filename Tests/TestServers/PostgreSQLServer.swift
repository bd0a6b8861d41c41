// A real server, started once a test process, that ends with the process however that ends; and others that tests kill.

import CairnPlatform
import Foundation
import Synchronization
import TestSupport

/// A server in a temporary folder, on a Unix socket and a port of this machine, as a user without rights.
///
/// A shell supervises it: the server stops when the shell's input ends, which the kernel sees to when this process
/// goes, be it killed.
package final class PostgreSQLServer: Sendable {
  /// The folder with the socket.
  package let folder: String
  package let port: Int
  private let supervisor: Supervisor

  private static let started = Result { try PostgreSQLServer() }
  /// The server of this test process.
  package static var shared: PostgreSQLServer { get throws { try started.get() } }

  /// Where the programs of the newest version are, nil where Debian's package is not installed.
  package static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin" }
      .first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
  }()
  package static let isAvailable = programs != nil
  /// What a run of tests says that leaves these out.
  package static let absence =
    "NOT RUN: no PostgreSQL server is installed; `make postgresql-server` installs Debian's package postgresql"

  private static let count = Mutex(0)

  /// A server of its own, which ends with the object; most tests use ``shared``.
  package init() throws {
    guard let programs = Self.programs else { throw ServerProblem(description: Self.absence) }
    // Not a `TemporaryFolder`: the shell removes it, also when this process was killed.
    folder = NSTemporaryDirectory() + "cairn-pg-\(UUID().uuidString.prefix(8))"
    let number = Self.count.withLock { count in
      count += 1
      return count
    }
    port = 20_000 + (Int(ProcessInfo.processInfo.processIdentifier) + 7_919 * number) % 40_000
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let settings = [
      "unix_socket_directories = '\(folder)'", "listen_addresses = '127.0.0.1'", "port = \(port)",
      "max_connections = 120", "max_prepared_transactions = 4", "shared_buffers = 32MB",
      "logging_collector = off",
      // No test asks what survives a power cut.
      "fsync = off", "full_page_writes = off", "autovacuum = off",
      // A session that turns this on waits at its commit for a standby that never comes.
      "synchronous_commit = off", "synchronous_standby_names = 'nowhere'",
      "ssl = \(try Self.makeCertificate(in: folder) ? "on" : "off")",
      "ssl_cert_file = '\(folder)/server.crt'", "ssl_key_file = '\(folder)/server.key'",
    ]
    try (settings.joined(separator: "\n") + "\n").write(
      toFile: "\(folder)/cairn.conf", atomically: false, encoding: .utf8)
    try Self.accessRules.write(toFile: "\(folder)/cairn.hba", atomically: false, encoding: .utf8)
    supervisor = try Supervisor(
      Self.script, in: folder, [programs, "\(port)", "\(port + 1)"])
  }

  /// Kills the server, without a chance to write anything, and starts it again.
  package func killAndStart() throws { try order("kill") }
  package func stop() throws { try order("stop") }
  package func start() throws { try order("start") }

  /// Makes a standby, which streams what the server commits.
  package func makeStandby() throws { try order("standby") }
  /// Stops the standby, so that it lacks what is committed from now on.
  package func cutStandby() throws { try order("cut") }
  /// Kills the server, and has the standby take its place.
  package func failOver() throws { try order("promote") }
  package var standbyPort: Int { port + 1 }

  private func order(_ command: String) throws { try supervisor.order(command) }

  /// Users by how they are let in; the database is any.
  private static let accessRules = """
    local all rejected reject
    local all with_password scram-sha-256
    local all +guarded scram-sha-256
    local all all trust
    local replication all trust
    hostssl all all 127.0.0.1/32 trust
    hostnossl all all 127.0.0.1/32 reject

    """

  /// Makes a cluster, starts it, and waits for the end of its input.
  private static let script = """
    folder=$1; programs=$2; port=$3; standby=$4; cd "$folder" || exit 1
    {
      "$programs/initdb" -D data -U owner -A trust -E UTF8 --locale=C --no-sync &&
      echo "include '$folder/cairn.conf'" >> data/postgresql.conf &&
      cp cairn.hba data/pg_hba.conf &&
      "$programs/pg_ctl" -D data -w -t 120 -l server.log start
    } > log 2>&1 < /dev/null || { echo failed; cat server.log >> log; exit 1; }
    echo ready
    while read -r command; do
      case $command in
      kill) kill -9 "$(head -n 1 data/postmaster.pid)" ;;
      stop)
        "$programs/pg_ctl" -D data -w -m fast stop > /dev/null 2>&1 && echo ready || echo failed
        continue
        ;;
      standby)
        "$programs/pg_basebackup" -D standby -R -h "$folder" -p "$port" -U owner --no-sync &&
        "$programs/pg_ctl" -D standby -w -t 60 -l standby.log -o "-p $standby" start > /dev/null 2>&1 &&
        echo ready || echo failed
        continue
        ;;
      cut)
        "$programs/pg_ctl" -D standby -w -m fast stop > /dev/null 2>&1 && echo ready || echo failed
        continue
        ;;
      promote)
        kill -9 "$(head -n 1 data/postmaster.pid)"
        "$programs/pg_ctl" -D standby -w -t 60 -l standby.log -o "-p $standby" start > /dev/null 2>&1
        "$programs/pg_ctl" -D standby -w -t 60 promote > /dev/null 2>&1 && echo ready || echo failed
        continue
        ;;
      esac
      tries=0
      # The sessions notice that the first process is gone, and go too.
      until "$programs/pg_ctl" -D data -w -t 60 -l server.log start > /dev/null 2>&1 < /dev/null; do
        tries=$((tries + 1)); [ $tries -lt 100 ] || { echo failed; break; }
        sleep 0.1
      done
      echo ready
    done
    for data in data standby; do "$programs/pg_ctl" -D $data -m immediate stop > /dev/null 2>&1; done
    rm -rf "$folder" 2> /dev/null

    """

  /// Makes a certificate for a host of another name than the server's.
  private static func makeCertificate(in folder: String) throws -> Bool {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") else { return false }
    return try ChildProcess.run(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=elsewhere.example", "-keyout", "\(folder)/server.key", "-out",
        "\(folder)/server.crt",
      ])
  }

  /// Makes a role that needs a password, and may make schemas.
  package func admit(_ role: String, password: String) throws {
    _ = try query(
      "DO $$ BEGIN CREATE ROLE guarded; EXCEPTION WHEN duplicate_object THEN NULL; END $$; "
        + "CREATE ROLE \(role) LOGIN PASSWORD '\(password)' IN ROLE guarded; "
        + "GRANT CREATE ON DATABASE postgres TO \(role)")
  }

  private static let names = Mutex(0)
  /// A name that no other test of the process uses, for a schema, a role or a database.
  package func newName(_ stem: String = "test") -> String {
    Self.names.withLock { count in
      count += 1
      return "\(stem)_\(count)"
    }
  }

  /// The URL of a store in a schema.
  ///
  /// - Parameters:
  ///   - options: Settings of its sessions, as the server's program takes them.
  ///   - folder: Where the socket is, when it is not the server's own.
  package func storeURL(
    _ schema: String, options: String = "", through folder: String? = nil
  ) -> URL? {
    let settings = options.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let host =
      (folder ?? self.folder).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let name = schema.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return URL(
      string: "postgresql://owner@/postgres?host=\(host)&port=\(port)"
        + (options.isEmpty ? "" : "&options=\(settings)") + "#\(name)")
  }

  /// Whether the standby has all that the server has committed.
  package func isStandbyLevel() throws -> Bool {
    try query("SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()")
      == "1"
  }

  /// A schema as `pg_dump` writes it.
  package func dump(schema: String) throws -> String {
    try run("pg_dump", ["--schema=\(schema)", "postgres"])
  }

  /// Runs what ``dump(schema:)`` has written.
  package func restore(_ dump: String) throws {
    let path = "\(folder)/\(UUID().uuidString).sql"
    try dump.write(toFile: path, atomically: false, encoding: .utf8)
    _ = try run("psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "postgres", "-f", path])
  }

  /// What SQL gives that another program runs, one row a line.
  package func query(_ text: String, database: String = "postgres") throws -> String {
    try run(
      "psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", text]
    ).trimmingCharacters(in: .newlines)
  }

  /// What one of the server's programs prints.
  private func run(_ program: String, _ arguments: [String]) throws -> String {
    guard let programs = Self.programs else { throw ServerProblem(description: Self.absence) }
    let process = ChildProcess()
    process.executableURL = URL(fileURLWithPath: "\(programs)/\(program)")
    process.arguments = ["-h", folder, "-p", "\(port)", "-U", "owner"] + arguments
    // In a file: a full pipe would keep the program from ending.
    let problems = "\(folder)/\(UUID().uuidString).err"
    try Data().write(to: URL(fileURLWithPath: problems))
    process.standardError = FileHandle(forWritingAtPath: problems)
    defer { try? FileManager.default.removeItem(atPath: problems) }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ServerProblem(
        description: (try? String(contentsOfFile: problems, encoding: .utf8)) ?? program)
    }
    return String(decoding: answer, as: UTF8.self)
  }
}
