// Calls, replies, errors and interface descriptions hold together.
import CairnControl
import Testing

@Suite struct ProtocolTests {
  @Test func messagesAreCutAtNULWhereverThePiecesEnd() throws {
    var framing = MessageFraming()
    #expect(try framing.append(Array("{}\u{0}{\"a".utf8)) == [Array("{}".utf8)])
    #expect(framing.isInsideMessage)
    #expect(try framing.append(Array("\":1}\u{0}".utf8)) == [Array("{\"a\":1}".utf8)])
    #expect(!framing.isInsideMessage)
  }

  @Test func aMessageTooLongIsRefusedBeforeItEnds() {
    var framing = MessageFraming(limit: 8)
    #expect(throws: MessageFraming.Overflow.self) {
      try framing.append([UInt8](repeating: 1, count: 9))
    }
  }

  @Test func everyMethodOfAnInterfaceIsDeclaredOnceAndTheReverse() {
    let described = InterfaceDescription.all.flatMap { interface in
      interface.methods.map { "\(interface.name).\($0.name)" }
    }
    #expect(described.sorted() == ControlMethods.all.map { $0.name }.sorted())
    #expect(ControlMethods.all.allSatisfy { $0.role > .none })
  }

  @Test func theTypesHaveTheFieldsThatTheDescriptionsGive() throws {
    try expectFields(
      FetchRecords.self,
      .init(
        entity: "E", predicate: "p", sort: [], properties: [], limit: 1, offset: 1, store: "s"),
      .init(properties: [], rows: []))
    try expectFields(
      SaveRecords.self, .init(inserts: [], updates: [], deletes: [], author: "a"),
      .init(inserted: [], updated: 0, deleted: 0))
    try expectFields(
      ImportRecords.self,
      .init(entity: "E", rows: [], lines: [], key: [], createMissing: true, author: "a"),
      .init(inserted: 0, updated: 0, unchanged: 0, created: 0))
    try expectFields(
      AddStore.self, .init(name: "n", type: "sqlite", location: "/x", direction: .both),
      .init(
        store: .init(
          name: "n", role: .replica, type: "", location: "", origin: .command, state: ""),
        added: true))
    try expectFields(
      WaitForSync.self, .init(name: "n", timeout: 1), .init(reached: [], waited: 0))
    try expectFields(SyncNow.self, .init(name: "n"), .init(started: []))
    try expectFields(PauseSync.self, .init(name: "n"), .init(paused: []))
    try expectFields(ResumeSync.self, .init(name: "n"), .init(resumed: []))
    try expectFields(
      GetModel.self, .init(), .init(model: .init(name: "m", versions: [], entities: [])))
    try expectFields(
      VerifyStores.self, .init(name: "n"),
      .init(
        progress: .init(store: "", entity: "", done: 0),
        difference: .init(store: "", kind: .value, detail: ""),
        summary: .init(stores: [], isEqual: true)))
  }

  private func expectFields<Method: ControlMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, _ reply: Method.Reply
  ) throws {
    let described = try #require(InterfaceDescription.method(Method.name))
    let sent = try #require(try JSONValueEncoder.encode(parameters).objectValue)
    let answered = try #require(try JSONValueEncoder.encode(reply).objectValue)
    #expect(sent.keys.sorted() == described.parameters.map(\.name).sorted())
    #expect(answered.keys.sorted() == described.results.map(\.name).sorted())
  }

  static let errors: [ControlError] = [
    .interfaceNotFound("i"), .methodNotFound("m"), .methodNotImplemented("m"),
    .invalidParameter("p"), .permissionDenied, .expectedMore, .messageTooLarge(limit: 1),
    .messageMalformed(offset: 2, reason: "r"), .busy(reason: "r"),
    .notReady(state: "s", reason: "r"), .configurationInvalid(problems: ["p"]),
    .internalFailure(reference: "x"), .storeNotFound(name: "n"),
    .storeExists(name: "n", reason: "r"), .storeUnavailable(name: "n", code: "c", reason: "r"),
    .storeInvalid(name: "n", field: "f", reason: "r"), .modelIncompatible(name: "n", reason: "r"),
    .waitTimedOut(behind: ["a"]), .invalidPredicate(text: "t", position: 1, reason: "r"),
    .unknownEntity(entity: "e"), .unknownProperty(entity: "e", property: "p"),
    .invalidValue(entity: "e", property: "p", reason: "r"), .recordNotFound(entity: "e", id: "i"),
    .validationFailed(problems: [.init(entity: "e", code: "c", reason: "r")]),
    .saveConflict(records: ["r"]), .importFailed(line: 3, reason: "r"),
    .limitExceeded(limit: 4, reason: "r"),
  ]

  @Test(arguments: errors)
  func anErrorComesBackAsItWasAndHasTheDeclaredFields(_ error: ControlError) throws {
    #expect(ControlError(name: error.name, fields: error.fields) == error)
    let dot = try #require(error.name.lastIndex(of: "."))
    let interface = try #require(InterfaceDescription.named(String(error.name[..<dot])))
    let short = error.name[error.name.index(after: dot)...]
    let declared = try #require(interface.errors.first { $0.name == short })
    #expect(declared.fields.map(\.name).sorted() == error.fields.keys.sorted())
  }

  @Test func everyDeclaredErrorIsKnown() {
    let declared = InterfaceDescription.all.flatMap { interface in
      interface.errors.map { "\(interface.name).\($0.name)" }
    }
    #expect(declared.sorted() == Self.errors.map(\.name).sorted())
  }

  @Test func aCallWithAWrongMemberIsRefusedByName() {
    #expect(throws: ControlError.invalidParameter("method")) { try ControlCall(message: [:]) }
    #expect(throws: ControlError.invalidParameter("more")) {
      try ControlCall(message: ["method": "a.B", "more": 1])
    }
    #expect(throws: ControlError.invalidParameter("parameters")) {
      try ControlCall(message: ["method": "a.B", "parameters": []])
    }
  }
}
