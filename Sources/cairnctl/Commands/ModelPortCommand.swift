// cairnctl model port
import ArgumentParser
import CairnControl
import CairnPlatform
import CairnSwiftSource
import Foundation

struct ModelPortCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "port",
    abstract: "Edit Swift sources written for Apple's platforms so that they compile on Linux.",
    discussion: """
      Shows the edits as a difference; with --write makes them. What a person has to do is listed \
      with file and line, and the exit code is 1 then. A file that cannot be read is left as it is. \
      Needs no daemon.
      """)

  @Argument(help: "Swift files, and folders whose Swift files are meant.")
  var sources: [String]

  @Flag(help: "Make the edits, each file in one step.")
  var write = false

  func run() throws {
    var left = 0
    var changed = 0
    var needsOpenCombine = false
    let files = try files()
    var classes = ClassNames()
    for path in files {
      // What cannot be read is reported below.
      guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)),
        let source = try? SwiftText(path: path, bytes: Array(data))
      else { continue }
      classes.add(source)
    }
    for path in files {
      do {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let ported = SourcePorting.port(
          try SwiftText(path: path, bytes: bytes), classes: classes)
        for remark in ported.remarks { report(remark) }
        left += ported.remarks.count
        if ported.edits.isEmpty { continue }
        changed += 1
        if ported.needsOpenCombine { needsOpenCombine = true }
        if write {
          try replace(path, with: ported.bytes)
          let count = Readable.count(ported.edits.count, "edit")
          Output.line(TerminalText.oneLine("\(path): \(count)"))
        } else {
          Output.line(TerminalText.safe(String(ported.difference().dropLast())))
        }
      } catch let problem as SourceProblem {
        report(problem)
        left += 1
      }
    }
    if !write, changed > 0 {
      Output.note("\(Readable.count(changed, "file")) would change; --write makes the edits")
    }
    if needsOpenCombine {
      Output.note("files use Combine; make OpenCombineShim of the package OpenCombine a dependency")
    }
    if left > 0 { throw ExitCode(1) }
  }

  private func report(_ problem: SourceProblem) {
    StandardStream.error.write(Array((TerminalText.oneLine(problem.description) + "\n").utf8))
  }

  /// The Swift files that the arguments mean, sorted.
  private func files() throws -> [String] {
    var found: [String] = []
    for path in sources {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw CommandFailure(
          message: "\(path): there is no such file or folder",
          hint: "name Swift files, or folders with some")
      }
      guard isFolder.boolValue else {
        found.append(path)
        continue
      }
      let walker = FileManager.default.enumerator(
        at: URL(fileURLWithPath: path), includingPropertiesForKeys: nil,
        options: [.skipsHiddenFiles])
      while let url = walker?.nextObject() as? URL {
        if url.pathExtension == "swift" { found.append(url.path) }
      }
    }
    return found.sorted()
  }

  private func replace(_ path: String, with bytes: [UInt8]) throws {
    // Through a link the file behind it is meant.
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let attributes = try FileManager.default.attributesOfItem(atPath: target)
    let mode = (attributes[.posixPermissions] as? NSNumber)?.uint32Value ?? 0o644
    try AtomicFileWrite.replace(path: target, with: bytes, mode: mode)
  }
}
