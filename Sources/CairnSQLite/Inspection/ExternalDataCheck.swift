import CairnModel
import CairnSQL
import Foundation

/// Checks the columns that may name files, and the files.
///
/// Files are looked for as they are now, and rows as they were when reading began: a commit in between
/// may have replaced a file. ``Swift/Array/confirmed(_:)`` asks again.
struct ExternalDataCheck {
  let store: StoreCheck

  func findings() throws -> [StoreFinding] {
    guard store.schema != nil else { return [] }
    var findings: [StoreFinding] = []
    var named: [String: String] = [:]
    for entity in store.entities {
      for slot in entity.ownSlots {
        guard case .attribute(let column, _, true) = entity.slots[slot],
          store.has(column, in: entity.table)
        else { continue }
        findings += try columnFindings(entity, column, named: &named)
      }
    }
    return findings + orphans(named)
  }

  private func columnFindings(
    _ entity: SQLEntity, _ column: String, named: inout [String: String]
  ) throws -> [StoreFinding] {
    // Data inside the row are not read, only what tells them from a file's name.
    let statement = try store.connection.statement(
      "SELECT Z_PK, Z_ENT, substr(\(column), 1, 38) FROM \(entity.table) t "
        + "WHERE typeof(\(column)) = 'blob' AND \(StoreCheck.isOf(entity, "t"))")
    defer { statement.reset() }
    var findings: [StoreFinding] = []
    while try statement.step() {
      let (key, bytes) = (statement.integer(0), statement.data(2))
      let name = store.name(ofEntity: statement.integer(1))
      func add(_ severity: StoreFinding.Severity, file: String? = nil, _ message: String) {
        guard findings.count < store.limit else { return }
        findings.append(
          StoreFinding(
            .externalData, as: severity, entity: name, key: key, table: entity.table,
            column: column, file: file, message))
      }
      switch bytes.first {
      case ExternalDataFiles.inlineTag: continue
      case ExternalDataFiles.fileTag:
        guard let file = ExternalDataFiles.fileName(ofColumn: bytes) else {
          add(.damage, "The column names a file and is no file's name.")
          continue
        }
        if let other = named.updateValue("\(name)/p\(key)", forKey: file) {
          add(.damage, "The file \(file) belongs to \(other) as well; only one row may name it.")
        }
        if !store.files.operations.exists(store.files.folder.appendingPathComponent(file)) {
          // Without the whole folder the files are elsewhere, and the store was copied without them.
          let isElsewhere = !store.files.operations.exists(store.files.folder)
          add(
            isElsewhere ? store.leftovers : .damage, file: file,
            "The file \(file) is not in \(store.files.folder.path)"
              + (isElsewhere ? ", which is not there; copy the folder beside the store." : "."))
        }
      default: add(.remark, "The data have no tag; they are taken as they are.")
      }
    }
    return findings
  }

  /// Files that no row names; a crash may leave them.
  private func orphans(_ named: [String: String]) -> [StoreFinding] {
    store.files.names.filter { named[$0] == nil }.prefix(store.limit).map {
      StoreFinding(
        .externalData, as: .remark, file: $0,
        "The file \($0) in \(store.files.folder.path) is named by no row.")
    }
  }
}

extension [StoreFinding] {
  /// What a later state of the store says as well; all of it when that cannot be read.
  ///
  /// - Parameter named: Which of some files the rows name then. It begins a read of its own.
  func confirmed(_ named: (Set<String>) throws -> Set<String>) -> [StoreFinding] {
    let doubtful = Set(compactMap(\.file))
    guard !doubtful.isEmpty, let present = try? named(doubtful) else { return self }
    return filter { finding in
      guard let file = finding.file else { return true }
      // A finding with a key is of a missing file that a row names, one without of a file that none names.
      return present.contains(file) == (finding.key != nil)
    }
  }
}

extension ExternalDataFiles {
  /// The names of the files that are there, sorted, copies that were broken off included; what Cairn
  /// and Core Data did not make is left out.
  var names: [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return all.filter { name in
      let stem = name.hasSuffix(".part") ? String(name.dropLast(5)) : name
      return UUID(uuidString: stem) != nil
    }.sorted()
  }
}
