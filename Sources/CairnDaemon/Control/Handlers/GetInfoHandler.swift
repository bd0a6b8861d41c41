// Serves org.varlink.service.GetInfo.
import CairnControl

struct GetInfoHandler: ControlHandler {
  typealias Method = GetInfo

  func handle(
    _ parameters: Method.Parameters, caller: ControlCaller,
    send: @escaping @Sendable (Method.Reply) async throws -> Void
  ) async throws -> Method.Reply {
    Method.Reply(
      vendor: "Cairn", product: "cairnd", version: CairnVersion.text, url: "",
      interfaces: InterfaceDescription.all.map(\.name))
  }
}
