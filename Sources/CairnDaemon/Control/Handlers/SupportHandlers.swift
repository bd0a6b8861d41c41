// Serves what helps to find a fault.
import Cairn
import CairnControl
import CairnRecords
import Foundation
import Synchronization

extension HandlerTable {
  mutating func serveSupportBundle(of host: EngineHost, _ actions: DaemonActions) {
    add(
      ControlHandler(GetSupportBundle.self) { _, _ in
        let status = actions.status()
        let masking = IDMasking()
        var files: [GetSupportBundle.File] = [
          .init(name: "status.json", text: masking.masked(try Self.json(status))),
          .init(name: "configuration.json", text: try Self.json(try await actions.configuration())),
          .init(
            name: "metrics.txt", text: await MetricsReport(status, of: host, actions.figures).text),
          .init(name: "log.txt", text: masking.masked(actions.recentLog())),
          .init(
            name: "versions.txt",
            text:
              "cairnd \(CairnVersion.text)\n\(ProcessInfo.processInfo.operatingSystemVersionString)\n"
              + "\((try? String(contentsOfFile: "/proc/version", encoding: .utf8)) ?? "")"),
        ]
        if let group = try? await host.current().current() {
          let model = ModelSummary(
            group.coordinator.managedObjectModel, name: group.configuredModel.name)
          files.append(.init(name: "model.json", text: try Self.json(model)))
        }
        // A mount that hangs must not keep the rest back: replicas that are open answer.
        var stores = status.local.map { [($0.name, $0.location)] } ?? []
        stores += status.replicas.filter { $0.state != .opening && $0.state != .unavailable }.map {
          ($0.name, $0.location)
        }
        let (places, box) = (stores, DigestBox())
        await Blocking.wait(atMost: .seconds(20)) {
          let digests = try? await Blocking.run {
            places.map { StoreDigest(name: $0.0, path: $0.1) }
          }
          box.put(digests.flatMap { try? Self.json($0) })
        }
        files.append(
          .init(name: "stores.json", text: box.text ?? "a store has not answered within 20 s\n"))
        return .init(files: files)
      })
  }

  private static func json(_ value: some Encodable) throws -> String {
    try JSONValueEncoder.encode(value).text + "\n"
  }
}

/// Takes a text from work that may come too late.
private final class DigestBox: Sendable {
  private let kept = Mutex<String?>(nil)
  var text: String? { kept.withLock { $0 } }
  func put(_ text: String?) { kept.withLock { $0 = text } }
}

/// Replaces record and store IDs by names that are the same within one bundle and tell nothing to who has another.
struct IDMasking: Sendable {
  private let salt = UInt64.random(in: 0 ... .max)

  /// A text with each UUID in it replaced.
  func masked(_ text: String) -> String {
    text.replacing(
      /[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}/
    ) { match in
      // Seeded anew in each process, and by the salt in each bundle.
      var hasher = Hasher()
      hasher.combine(salt)
      hasher.combine(match.output.lowercased())
      return "id-" + String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 36)
    }
  }
}
