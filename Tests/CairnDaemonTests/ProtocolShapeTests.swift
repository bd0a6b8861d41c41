// The interface texts say what the types hold.
import CairnControl
import Testing

@testable import CairnDaemon

@Suite struct ProtocolShapeTests {
  private static let service = ServiceDescription(methods: GoldenReplay.methods)

  @Test func everyInterfaceDescribesItsMethodsOnce() {
    let described = Self.service.interfaces.flatMap { interface in
      interface.methods.map { "\(interface.name).\($0.name)" }
    }
    #expect(described.sorted() == GoldenReplay.methods.map { $0.name }.sorted())
    for interface in Self.service.interfaces {
      let names = interface.types.map(\.name) + interface.errors.map(\.name)
      #expect(Set(names).count == names.count, "\(interface.name) declares a name twice")
    }
  }

  @Test(arguments: GoldenReplay.methods.map { $0.name })
  func theTextSaysTheRoleAndTheTypesAsTheyTravel(_ name: String) throws {
    let method = try #require(GoldenReplay.methods.first { $0.name == name })
    let described = try #require(Self.service.method(named: name))
    let interface = try #require(Self.service.interface(named: method.interface))
    if method.interface.hasPrefix("io.cairn.") {
      let text = try #require(method.declarations.last)
      #expect(text.contains("Role: \(method.role).\n"))
      #expect(text.contains("Needs more: ") == method.isStreaming)
    }
    try check(method, described, interface)
  }

  private func check<Method: ControlMethod>(
    _ method: Method.Type, _ described: InterfaceDescription.Method,
    _ interface: InterfaceDescription
  ) throws {
    let parameters = try WireShape(of: Method.Parameters.self)
    let reply = try WireShape(of: Method.Reply.self)
    let reader = WireShape.Reader(interface: interface)
    #expect(parameters == .object(reader.fields(described.parameters)), "\(method.name)")
    #expect(reply == .object(reader.fields(described.results)), "\(method.name)")
  }

  /// systemd reads no lists of lists or maps, and no maps of them.
  @Test func typesAreNotNested() {
    for interface in Self.service.interfaces {
      for line in interface.text.split(separator: "\n") where !line.hasPrefix("#") {
        #expect(line.firstMatch(of: /\[(string)?\]\??\[/) == nil, "\(interface.name): \(line)")
      }
    }
  }

  @Test func aWrongTextIsNoticed() throws {
    let reader = WireShape.Reader(interface: Self.service.interfaces[1])
    let shape = try WireShape(of: WaitForSync.Parameters.self)
    func text(_ name: String, _ timeout: String) -> WireShape {
      .object(
        reader.fields([
          .init(name: "name", type: name), .init(name: "names", type: "?[]string"),
          .init(name: "timeout", type: timeout), .init(name: "token", type: "?string"),
        ]))
    }
    #expect(shape == text("?string", "?float"))
    #expect(shape != text("string", "?float"))
    #expect(shape != text("?string", "?int"))
    #expect(shape != text("?[]string", "?float"))
  }
}
