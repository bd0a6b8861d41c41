// Finds the handler of a call, checks that the caller may, and turns failures into answers.
import CairnControl
import Foundation
import Logging

/// Carries out calls.
///
/// Knows no sockets.
struct ControlDispatcher: Sendable {
  private let handlers: [String: ControlHandler]
  private let service: ServiceDescription
  private let logger: Logger
  private let figures: ServiceFigures
  /// A client may try again and again.
  private let refusals = EventThrottle()

  init(
    handlers: [ControlHandler], logger: Logger, figures: ServiceFigures = ServiceFigures()
  ) {
    self.figures = figures
    self.handlers = Dictionary(handlers.map { ($0.method.name, $0) }, uniquingKeysWith: { $1 })
    service = ServiceDescription(methods: handlers.map(\.method))
    self.logger = logger
  }

  /// Carries out a call and returns its last answer; interim ones go to `send`.
  func dispatch(
    _ call: ControlCall, caller: ControlCaller,
    send: @escaping @Sendable (ReplyFrame) async throws -> Void
  ) async -> ReplyFrame {
    do {
      let handler = try handler(of: call, caller: caller)
      try checkNames(call)
      // Who did not ask for more gets the last answer only.
      let send = call.more ? send : { @Sendable _ in }
      if let reply = try handler.atHand() { return reply }
      // Not on the thread of the connection, which others share.
      return try await withTaskExecutorPreference(globalConcurrentExecutor) {
        try await ControlCaller.$current.withValue(caller) {
          try await handler.answer(call.parameters, send)
        }
      }
    } catch let error as ControlError {
      log(error, call, caller)
      return ReplyFrame(failure: error)
    } catch is CancellationError {
      return ReplyFrame(failure: .notReady(state: "draining", reason: "the call was cut short"))
    } catch {
      guard let answer = ControlError(describing: error, store: "local") else {
        return unexpected(error, call)
      }
      log(answer, call, caller)
      return ReplyFrame(failure: answer)
    }
  }

  private func handler(of call: ControlCall, caller: ControlCaller) throws -> ControlHandler {
    // Strangers learn nothing, not even which methods there are.
    guard caller.role > .none else { throw ControlError.permissionDenied }
    guard let handler = handlers[call.method] else {
      guard let dot = call.method.lastIndex(of: ".") else {
        throw ControlError.methodNotFound(call.method)
      }
      let interface = String(call.method[..<dot])
      throw service.interface(named: interface) == nil
        ? ControlError.interfaceNotFound(interface) : .methodNotFound(call.method)
    }
    guard caller.role >= handler.method.role else { throw ControlError.permissionDenied }
    guard !handler.method.isStreaming || call.more else { throw ControlError.expectedMore }
    return handler
  }

  /// A parameter that the method does not have is a mistake of the caller, not to be passed over.
  private func checkNames(_ call: ControlCall) throws {
    if call.parameters.isEmpty { return }
    guard let method = service.method(named: call.method) else { return }
    let known = Set(method.parameters.map(\.name))
    if let unknown = call.parameters.keys.sorted().first(where: { !known.contains($0) }) {
      throw ControlError.invalidParameter(unknown)
    }
  }

  private func log(_ error: ControlError, _ call: ControlCall, _ caller: ControlCaller) {
    let metadata: Logger.Metadata = [
      "method": .string(String(call.method.prefix(128))), "clientUid": "\(caller.user)",
      "clientPid": "\(caller.process)", "errorCode": .string(error.name),
    ]
    if error == .permissionDenied { figures.refused(.permission) }
    if error == .permissionDenied, refusals.isDue("\(caller.user)") {
      logger.event(.callRefused, "a call was refused", metadata: metadata)
    } else {
      // A caller who may only look cannot push others' entries out of the flight recorder.
      logger.log(
        level: caller.role > .status ? .debug : .trace, "a call failed", metadata: metadata)
    }
  }

  private func unexpected(_ error: any Error, _ call: ControlCall) -> ReplyFrame {
    let reference = String(UInt64.random(in: 0 ... .max), radix: 36)
    // The words of an error that the daemon does not know may quote what a record holds: level trace has them, and the flight recorder has not.
    let (domain, code) = ((error as NSError).domain, (error as NSError).code)
    logger.trace("[\(reference)] \(String(describing: error))")
    logger.event(
      .callFailed, "a call failed unexpectedly: \(domain) \(code) [\(reference)]",
      metadata: [
        "method": .string(call.method), "requestId": .string(reference),
        "errorType": .string(String(describing: type(of: error))),
      ])
    return ReplyFrame(failure: .internalFailure(reference: reference))
  }
}
