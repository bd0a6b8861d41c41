// Serves org.varlink.service.GetInterfaceDescription.
import CairnControl

struct GetInterfaceDescriptionHandler: ControlHandler {
  typealias Method = GetInterfaceDescription

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    guard let description = InterfaceDescription.named(parameters.interface) else {
      throw ControlError.interfaceNotFound(parameters.interface)
    }
    return Method.Reply(description: description.text)
  }
}
