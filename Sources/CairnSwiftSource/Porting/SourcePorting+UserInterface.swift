// Files of the user interface, which Linux does not compile.

extension SourcePorting {
  /// Puts a file that makes a part of the user interface, and none of the model, behind the module that
  /// it makes it with; false where the file is not such a one.
  mutating func wrapUserInterface() -> Bool {
    guard let first = source.tokens.first(where: { !$0.isSymbol(";") }),
      let module = importedInterface, declaresInterface
    else { return false }
    var place = first.range.lowerBound
    while place > 0, [32, 9].contains(source.bytes[place - 1]) { place -= 1 }
    let end = source.bytes.count
    edits = [
      SourceEdit(range: place..<place, replacement: "#if canImport(\(module))\n"),
      SourceEdit(
        range: end..<end, replacement: (source.bytes.last == 10 ? "" : "\n") + "#endif\n"),
    ]
    return true
  }

  /// The module of the user interface that the file imports outside of every condition.
  private var importedInterface: String? {
    var depth = 0
    var found: Set<String> = []
    var isNamed = false
    for (index, token) in source.tokens.enumerated() {
      if token.text == "#if" { depth += 1 }
      if token.text == "#endif" { depth -= 1 }
      // Modules of a program may bring UIKit along.
      if depth == 0, isOfUIKit(token) { isNamed = true }
      guard depth == 0, token.isWord("import"), index + 1 < source.tokens.count else { continue }
      found.insert(source.tokens[index + 1].text)
    }
    return AppleModules.ofUserInterface.first { found.contains($0) } ?? (isNamed ? "UIKit" : nil)
  }

  /// Whether a name is one of UIKit's that no class of the sources has.
  func isOfUIKit(_ token: SwiftToken) -> Bool {
    token.kind == .identifier && token.text.hasPrefix("UI") && token.text != "UIKit"
      && AppleModules.has(token.text, in: "UIKit") == true && !classes.declaresType(token.text)
  }

  /// Remarks on the first name of UIKit in a file that does not import it: another module brings it.
  mutating func remarkOnInterface() {
    guard let token = firstOfUIKit,
      !remarks.contains(where: {
        $0.reason.hasPrefix("there is no UIKit") || $0.reason.hasPrefix("there is no SwiftUI")
      })
    else { return }
    remark(
      token,
      "\(token.text) is of UIKit, which Linux lacks; move what needs it behind "
        + "#if canImport(UIKit)")
  }

  /// Whether the file declares or extends views or controllers of views, and no class of managed objects.
  private var declaresInterface: Bool {
    var hasInterface = false
    for index in source.tokens.indices {
      if source.tokens[index].isWord("NSManaged") { return false }
      guard let scope = ClassNames.Scope(source.tokens, at: index) else { continue }
      switch scope.kind {
      case "class", "extension":
        if classes.nature(of: scope.name) == .managed { return false }
        if classes.isOfInterface(scope.name) { hasInterface = true }
        if scope.kind == "extension",
          Self.protocols.contains(scope.name) || AppleModules.has(scope.name, in: "UIKit") == true
        {
          hasInterface = true
        }
      default: break
      }
      if !Self.protocols.isDisjoint(with: scope.inherited) { hasInterface = true }
    }
    return hasInterface
  }

  /// Protocols of SwiftUI and WidgetKit, and those that put views of one framework into the other.
  private static let protocols: Set<String> = [
    "View", "ViewModifier", "App", "Scene", "Commands", "Widget", "WidgetBundle", "PreviewProvider",
    "TimelineProvider", "IntentTimelineProvider", "AppIntentTimelineProvider", "TimelineEntry",
    "UIViewRepresentable", "UIViewControllerRepresentable", "NSViewRepresentable",
    "NSViewControllerRepresentable", "ButtonStyle", "ToggleStyle", "LabelStyle", "Shape",
    "ToolbarContent",
    "UIApplicationDelegate", "UIWindowSceneDelegate", "UISceneDelegate", "NSApplicationDelegate",
    "UITableViewDataSource", "UITableViewDelegate", "UICollectionViewDataSource",
    "UICollectionViewDelegate", "UINavigationControllerDelegate", "UIPageViewControllerDataSource",
  ]
}
