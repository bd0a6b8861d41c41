import Foundation
import PackagePlugin

/// Generates the classes of every `.xcdatamodeld` and `.xcdatamodel` of a target while it is built.
///
/// A model is regenerated when a document in its package changes. Entities choose what is generated
/// through their code generation setting; see `cairn-modelgen`.
@main
struct CairnModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    let tool = try context.tool(named: "cairn-modelgen")
    return models(in: target.directoryURL).map { model in
      let name = model.deletingPathExtension().lastPathComponent
      let output = context.pluginWorkDirectoryURL.appendingPathComponent("\(name)+Model.swift")
      return .buildCommand(
        displayName: "Generate classes of \(model.lastPathComponent)",
        executable: tool.url, arguments: ["generate", model.path, "--output", output.path],
        inputFiles: documents(in: model), outputFiles: [output])
    }
  }

  /// The model packages below a folder, and versions that are in no package.
  private func models(in folder: URL) -> [URL] {
    var result: [URL] = []
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let url = files?.nextObject() as? URL {
      guard ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) else { continue }
      result.append(url)
      files?.skipDescendants()
    }
    return result.sorted { $0.path < $1.path }
  }

  /// The files that decide what is generated.
  private func documents(in model: URL) -> [URL] {
    var result: [URL] = []
    let files = FileManager.default.enumerator(at: model, includingPropertiesForKeys: nil)
    while let url = files?.nextObject() as? URL {
      if ["contents", ".xccurrentversion"].contains(url.lastPathComponent) { result.append(url) }
    }
    return result.sorted { $0.path < $1.path }
  }
}
