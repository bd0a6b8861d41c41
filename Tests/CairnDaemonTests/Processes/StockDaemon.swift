// Daemons for tests: of records with a name and a picture (large ones are files), or of a test's own entities.
import CairnControl
import CairnTesting
import Foundation
import TestSupport
import Testing

extension Daemon {
  /// - Parameters:
  ///   - hasReplica: Whether it has a replica called near.
  ///   - extra: More of its configuration.
  static func withStock(hasReplica: Bool = true, extra: String = "") async throws -> Daemon {
    try await started(
      withEntities: """
        <entity name="Item" representedClassName="Item" syncable="YES">
          <attribute name="name" optional="YES" attributeType="String"/>
          <attribute name="picture" optional="YES" attributeType="Binary" \
        allowsExternalBinaryDataStorage="YES"/>
        </entity>
        """, hasReplica: hasReplica, extra: extra)
  }

  /// A daemon that serves stores of a model with these entities, written as in Xcode's files.
  static func started(
    withEntities entities: String, hasReplica: Bool = true, extra: String = ""
  ) async throws -> Daemon {
    let folder = try TemporaryFolder()
    let model = try TestModel.write("Stock", in: folder, contents: entities)
    let daemon = try Daemon(
      in: folder,
      Daemon.Setup(
        model: model, replicas: hasReplica ? [("near", folder.file("near.sqlite"))] : [],
        extra: extra))
    try await daemon.start()
    return daemon
  }

  /// What a command that must succeed answers.
  func answer<Reply: Decodable>(
    _ type: Reply.Type, to command: String, _ arguments: [String]
  ) async throws -> Reply {
    let outcome = try await ctl([command, "--json"] + arguments)
    #expect(outcome.code == 0, "\(outcome.errors)")
    let value = try JSONParser.parse(Array(outcome.output.utf8.dropLast()))
    return try JSONValueDecoder.decode(type, from: value)
  }
}
