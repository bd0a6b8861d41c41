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

  static let errors: [ControlError] = [
    .interfaceNotFound("i"), .methodNotFound("m"), .methodNotImplemented("m"),
    .invalidParameter("p"), .permissionDenied, .expectedMore, .messageTooLarge(limit: 1),
    .messageMalformed(offset: 2, reason: "r"), .busy(reason: "r"),
    .notReady(state: "s", reason: "r"), .configurationInvalid(problems: ["p"]),
    .restartNeeded(keys: ["k"]),
    .internalFailure(reference: "x"), .storeNotFound(name: "n", nearest: "m"),
    .storeExists(name: "n", reason: "r"), .storeUnavailable(name: "n", code: "c", reason: "r"),
    .storeInvalid(name: "n", field: "f", reason: "r"), .modelIncompatible(name: "n", reason: "r"),
    .waitTimedOut(behind: ["a"], reason: "r"),
    .invalidPredicate(text: "t", position: 1, reason: "r"),
    .unknownEntity(entity: "e", nearest: "f"),
    .unknownProperty(entity: "e", property: "p", nearest: "q"),
    .entryNotFound(kind: .conflict, id: "i", reason: "r"), .notPossible(code: "c", reason: "r"),
    .invalidValue(entity: "e", property: "p", reason: "r"), .recordNotFound(entity: "e", id: "i"),
    .validationFailed(problems: [.init(entity: "e", code: "c", reason: "r")]),
    .saveConflict(records: ["r"]), .importFailed(line: 3, reason: "r"),
    .limitExceeded(limit: 4, reason: "r"),
    .historyNotThere(name: "n", reason: "r", oldest: "o"),
  ]

  @Test(arguments: errors)
  func anErrorComesBackAsItWasAndHasTheDeclaredFields(_ error: ControlError) throws {
    #expect(ControlError(name: error.name, fields: error.fields) == error)
    let dot = try #require(error.name.lastIndex(of: "."))
    let service = ServiceDescription(methods: [])
    let interface = try #require(service.interface(named: String(error.name[..<dot])))
    let short = error.name[error.name.index(after: dot)...]
    let declared = try #require(interface.errors.first { $0.name == short })
    #expect(declared.fields.map(\.name).sorted() == error.fields.keys.sorted())
  }

  @Test(arguments: errors)
  func anErrorSaysWhatToDoNext(_ error: ControlError) {
    // The reason of what is not possible says it.
    if case .notPossible = error { return }
    #expect(error.hint?.isEmpty == false)
  }

  @Test func everyDeclaredErrorIsKnown() {
    let declared = ServiceDescription(methods: []).interfaces.flatMap { interface in
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
