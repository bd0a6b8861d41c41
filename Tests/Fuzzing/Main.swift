// Gives the readers of what comes from outside damaged and made-up input until a time is over. A trap, a
// memory fault or a hang ends the process; the input that did it is left in a file.
// `Tests/fuzz.sh` drives it.
//
//   cairn-fuzz TARGET CORPUS CANDIDATE SECONDS SEED    everything in the corpus first, then changes of it
//   cairn-fuzz TARGET FILE                             one input again
//
// Exit codes: 0 nothing was found, 64 wrong arguments; a signal otherwise.

import CairnTesting
import Foundation

@main
struct Fuzzer {
  let target: FuzzTarget
  let candidate: URL

  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let name = arguments.first, let target = FuzzTarget(rawValue: name) else {
      FileHandle.standardError.write(
        Data(
          "the targets are \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))\n".utf8))
      exit(64)
    }
    let rest = Array(arguments.dropFirst())
    if rest.count == 1 {
      try target.read(Data(contentsOf: URL(fileURLWithPath: rest[0])), in: Self.folder())
      return print("nothing")
    }
    guard rest.count == 4, let seconds = Double(rest[2]), let seed = UInt64(rest[3]) else {
      exit(64)
    }
    let fuzzer = Fuzzer(target: target, candidate: URL(fileURLWithPath: rest[1]))
    try fuzzer.run(corpus: URL(fileURLWithPath: rest[0]), seconds: seconds, seed: seed)
  }

  /// A folder of this process for what has to be a file.
  private static func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cairn-fuzz-\(getpid())", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private func run(corpus: URL, seconds: Double, seed: UInt64) throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = (try? FileManager.default.contentsOfDirectory(atPath: corpus.path)) ?? []
    var inputs = try files.sorted().map {
      try Data(contentsOf: corpus.appendingPathComponent($0))
    }
    inputs += try target.samples(in: folder)
    guard !inputs.isEmpty else {
      FileHandle.standardError.write(
        Data("there is nothing to begin with in \(corpus.path)\n".utf8))
      exit(64)
    }
    var (count, accepted) = (0, 0)
    func read(_ input: Data) throws {
      try input.write(to: candidate)
      // A reader that does not come back is ended by the signal.
      alarm(20)
      if target.read(input, in: folder) { accepted += 1 }
      count += 1
    }
    for input in inputs { try read(input) }
    var changes = InputChanges(seed: seed)
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
      let input = changes.next(of: inputs)
      let before = accepted
      try read(input)
      // What is still read leads further than what is refused at once.
      if accepted > before, inputs.count < 500, input.count < 1 << 16 { inputs.append(input) }
    }
    alarm(0)
    try? FileManager.default.removeItem(at: candidate)
    print("\(target.rawValue): \(count) inputs, \(accepted) of them read, seed \(seed)")
  }
}
