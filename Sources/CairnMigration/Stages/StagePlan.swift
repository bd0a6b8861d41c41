import Foundation

/// Which steps lead from a store's version to the program's.
///
/// A pure value.
struct StagePlan: Equatable {
  /// What is known of one stage.
  enum Stage: Equatable {
    /// Checksums of versions, oldest first.
    case lightweight([String])
    case custom(from: String, to: String)

    var versions: [String] {
      switch self {
      case .lightweight(let checksums): return checksums
      case .custom(let from, let to): return [from, to]
      }
    }
  }

  struct Step: Equatable {
    let from: String
    let to: String
    /// The stage it belongs to.
    let stage: Int
    /// Whether the stage's handlers run around it.
    let isCustom: Bool
  }

  enum Problem: Error, Equatable {
    /// The store's version is in no stage.
    case unknownVersion
    /// The store's version comes after the program's.
    case backwards
  }

  let steps: [Step]

  /// - Throws: ``Problem``.
  init(stages: [Stage], from current: String, to target: String) throws(Problem) {
    var line: [(version: String, stage: Int, isCustomArrival: Bool)] = []
    for (index, stage) in stages.enumerated() {
      switch stage {
      case .lightweight(let versions):
        for version in versions where line.last?.version != version {
          line.append((version, index, false))
        }
      case .custom(let from, let to):
        if line.last?.version != from { line.append((from, index, false)) }
        line.append((to, index, true))
      }
    }
    guard let start = line.lastIndex(where: { $0.version == current }) else {
      throw .unknownVersion
    }
    let end: Int
    if let found = line.lastIndex(where: { $0.version == target }) {
      guard found >= start else { throw .backwards }
      end = found
    } else {
      // The program's version may lie beyond the last stage; an inferred mapping leads there.
      end = line.count - 1
    }
    steps = (start..<end).map { index in
      Step(
        from: line[index].version, to: line[index + 1].version, stage: line[index + 1].stage,
        isCustom: line[index + 1].isCustomArrival)
    }
  }
}
