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
    let module = importedModule(of: target)
    return models(in: target.directoryURL).map { model in
      let name = model.deletingPathExtension().lastPathComponent
      let output = context.pluginWorkDirectoryURL.appendingPathComponent("\(name)+Model.swift")
      return .buildCommand(
        displayName: "Generate classes of \(model.lastPathComponent)",
        executable: tool.url,
        arguments: ["generate", model.path, "--output", output.path, "--import", module],
        inputFiles: documents(in: model), outputFiles: [output])
    }
  }

  /// `CoreData` for a target that uses Cairn under Apple's names only, otherwise `Cairn`.
  private func importedModule(of target: any Target) -> String {
    let products = target.dependencies.compactMap { dependency -> String? in
      if case .product(let product) = dependency { return product.name }
      return nil
    }
    return products.contains("CoreData") && !products.contains("Cairn") ? "CoreData" : "Cairn"
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
