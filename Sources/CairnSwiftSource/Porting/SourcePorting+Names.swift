// Names that mean something else on Linux, and what a file lacks there.

extension SourcePorting {
  /// Foundation on Linux has empty classes of these names.
  private static let foreign: Set<String> = [
    "NSPredicate", "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression",
    "NSSortDescriptor",
  ]

  mutating func name(_ token: SwiftToken) {
    let follows = self.token(1)
    if token.text == "Foundation", follows?.isSymbol(".") == true, let name = self.token(2),
      Self.foreign.contains(name.text)
    {
      edits.append(
        SourceEdit(range: token.range.lowerBound..<name.range.lowerBound, replacement: ""))
    }
    if firstOfUIKit == nil, isOfUIKit(token), self.token(-1)?.isSymbol(".") != true {
      firstOfUIKit = token
    }
    if Self.combine.contains(token.text), !classes.declaresType(token.text),
      self.token(-1)?.isSymbol(".") != true
    {
      namesCombine = true
    }
    if let reason = Self.lacking[token.text], self.token(-1)?.isWord("func") != true {
      remark(token, reason)
    }
    if token.text == "NSClassFromString", follows?.isSymbol("(") == true {
      remark(
        token,
        "on Linux NSClassFromString finds Swift classes only, by the name with the module; name "
          + "the class itself")
    }
    if token.text == "override", isModifier, let scope = scopes.last, let scope,
      scope.kind == "extension"
    {
      overrideInExtension(token, of: scope)
    }
    if token.text == "fetchRequest" { untypedRequest(token) }
    if token.text.hasPrefix("validate"), self.token(-1)?.isWord("func") == true {
      unlistedValidator(token)
    }
  }

  /// What Apple's modules that Linux has in part lack there.
  private static let lacking = [
    "forSecurityApplicationGroupIdentifier":
      "there are no application groups on Linux; say the folder yourself",
    "NSPersistentCloudKitContainer":
      "there is no CloudKit on Linux; use NSPersistentContainer, and cairnd for replicas",
    "NSPersistentCloudKitContainerOptions": "there is no CloudKit on Linux; leave the options out",
    "NSCoreDataCoreSpotlightDelegate": "there is no Spotlight on Linux",
    "NSUbiquitousKeyValueStore": "there is no iCloud on Linux; use UserDefaults",
    "NSFileCoordinator": "there is no file coordination on Linux; lock the file, or leave it out",
    "NSMetadataQuery": "there is no Spotlight on Linux",
  ]

  /// A request whose result the source does not say: of a class that declares no `fetchRequest()` of its own.
  private mutating func untypedRequest(_ token: SwiftToken) {
    let before = [-5, -4, -3, -2, -1].map { self.token($0)?.text ?? "" }
    let after = [1, 2].map { self.token($0)?.text ?? "" }
    guard after == ["(", ")"], ["let", "var"].contains(before[0]), before[2] == "=",
      before[4] == ".", classes.declares(before[3]), !classes.typedRequests.contains(before[3]),
      self.token(3)?.isWord("as") != true, self.token(3)?.isSymbol(".") != true
    else { return }
    remark(
      token,
      "the result of this request is not written: write let \(before[1]): NSFetchRequest<"
        + "\(before[3])> = \(before[3]).fetchRequest()")
  }

  /// A `validate<Key>` method that its class does not list among its rules.
  private mutating func unlistedValidator(_ token: SwiftToken) {
    let key = token.text.dropFirst("validate".count)
    guard let first = key.first, first.isUppercase, let scope = scopes.last, let scope,
      ["class", "extension"].contains(scope.kind), classes.nature(of: scope.name) != .other,
      self.token(1)?.isSymbol("(") == true, let close = source.closing(index + 1),
      !classes.listedValidators.contains("\(scope.name).\(token.text)")
    else { return }
    let parameters = source.tokens[(index + 2)..<close]
    let texts = parameters.map(\.text)
    guard !parameters.contains(where: { $0.isSymbol(",") }),
      texts.contains("AutoreleasingUnsafeMutablePointer")
        || texts.contains("inout") && texts.contains("Any")
    else { return }
    let isAcronym = key.dropFirst().first?.isUppercase == true
    let name = isAcronym ? String(key) : first.lowercased() + key.dropFirst()
    remark(
      token,
      "Linux does not find validation methods by their names; list it in a file with "
        + "@_spi(Runtime) import CoreData: override class var keyValidators: "
        + "[String: KeyValidator] { [\"\(name)\": .init(\(scope.name).\(token.text))] }")
  }

  /// Branches for several of Apple's platforms of which Linux compiles none.
  mutating func lackingBranch(_ token: SwiftToken) {
    var depth = 0
    var conditions = 0
    for next in source.tokens.dropFirst(index) where next.kind == .pound {
      switch next.text {
      case "#if": depth += 1
      case "#endif": depth -= 1
      case "#else" where depth == 1: return
      default: break
      }
      if depth == 0 { break }
      guard depth == 1, next.text == "#if" || next.text == "#elseif" else { continue }
      let end = source.endOfLine(next.range.lowerBound)
      let text = source.text(next.range.upperBound..<end)
      guard text.contains("os("), PlatformCondition.holdsOnLinux(text) == false else { return }
      conditions += 1
    }
    guard conditions > 1 else { return }
    remark(token, "no branch of this #if is for Linux; add #else or #elseif os(Linux)")
  }

  /// Whether the request before `as` has the type that it is cast to, as the file shows.
  var isRightCast: Bool {
    guard let name = token(-1), name.kind == .identifier,
      let wanted = token(4)?.text, token(5)?.isSymbol(">") == true
    else { return false }
    // `name: NSFetchRequest<X>`, `name = NSFetchRequest<X>(…)`, the last before.
    var position = index - 2
    while position >= 0 {
      defer { position -= 1 }
      guard source.tokens[position].isWord(name.text), position + 4 < source.tokens.count,
        source.tokens[position + 1].isSymbol(":") || source.tokens[position + 1].isSymbol("="),
        source.tokens[position + 2].isWord("NSFetchRequest")
      else { continue }
      return source.tokens[position + 4].text == wanted
    }
    return false
  }

  // MARK: What is missing

  mutating func addMissing() {
    addCombine()
    addImport()
    for index in source.tokens.indices {
      guard let scope = ClassNames.Scope(source.tokens, at: index), scope.kind == "class",
        classes.nature(of: scope.name) == .managed
      else { continue }
      addInitializer(index)
    }
  }

  /// On Apple's platforms Foundation brings Combine along.
  private mutating func addCombine() {
    guard namesCombine, !importsCombine, let place = firstLine else { return }
    edits.append(
      SourceEdit(
        range: place..<place,
        replacement:
          "#if canImport(Combine)\nimport Combine\n#else\nimport OpenCombineShim\n#endif\n"))
  }

  /// Where the line of the first token begins.
  private var firstLine: Int? {
    source.tokens.first.map { source.lineStart($0.range.lowerBound) }
  }

  private static let combine: Set<String> = [
    "ObservableObject", "Published", "PassthroughSubject", "CurrentValueSubject", "AnyCancellable",
    "AnyPublisher",
  ]

  private mutating func addImport() {
    guard let place = firstLine, namesCoreData else { return }
    for (index, token) in source.tokens.enumerated() where token.isWord("import") {
      let names = source.tokens.dropFirst(index + 1).prefix(2).map(\.text)
      if names.contains("CoreData") || names.first == "Cairn" { return }
    }
    edits.append(SourceEdit(range: place..<place, replacement: "import CoreData\n"))
  }

  static let coreData: Set<String> = [
    "NSManagedObject", "NSManagedObjectContext", "NSManagedObjectID", "NSManagedObjectModel",
    "NSPersistentContainer", "NSPersistentStoreCoordinator", "NSPersistentStore",
    "NSPersistentStoreDescription", "NSFetchRequest", "NSFetchRequestResult",
    "NSFetchedResultsController", "NSFetchedResultsControllerDelegate", "NSEntityDescription",
    "NSAttributeDescription", "NSRelationshipDescription", "NSBatchDeleteRequest",
    "NSBatchInsertRequest", "NSBatchUpdateRequest", "NSMergePolicy", "NSEntityMigrationPolicy",
    "NSMappingModel", "NSMigrationManager",
  ]

  /// Contexts make objects through `init(entity:insertInto:)`, which a class with a designated
  /// initializer of its own does not inherit.
  private mutating func addInitializer(_ index: Int) {
    var open = index
    while open < source.tokens.count, !source.tokens[open].isSymbol("{") { open += 1 }
    guard open < source.tokens.count, let close = source.closing(open) else { return }
    var depth = 0
    var hasOwn = false
    for position in (open + 1)..<close {
      let token = source.tokens[position]
      if token.isSymbol("{") { depth += 1 }
      if token.isSymbol("}") { depth -= 1 }
      guard depth == 0, token.isWord("init"), position + 1 < close,
        !source.tokens[position - 1].isSymbol(".")
      else { continue }
      let labels = source.tokens[(position + 1)...].prefix(24)
      if labels.dropFirst().first?.isWord("entity") == true,
        labels.contains(where: { $0.isWord("insertInto") })
      {
        return
      }
      var before = position - 1
      while before > open, Self.declarations.contains(source.tokens[before].text),
        !source.tokens[before].isWord("convenience")
      {
        before -= 1
      }
      if !source.tokens[before].isWord("convenience") { hasOwn = true }
    }
    guard hasOwn else { return }
    let isPublic =
      index > 0 && ["public", "open"].contains(source.tokens[index - 1].text)
      || index > 1 && ["public", "open"].contains(source.tokens[index - 2].text)
    let access = isPublic ? "public " : ""
    let place = source.tokens[open].range.upperBound
    edits.append(
      SourceEdit(
        range: place..<place,
        replacement: """

            \(access)override init(
              entity: NSEntityDescription, insertInto context: NSManagedObjectContext?
            ) {
              super.init(entity: entity, insertInto: context)
            }

          """))
  }
}
