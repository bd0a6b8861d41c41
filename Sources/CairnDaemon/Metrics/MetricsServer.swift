// Metrics and health over HTTP, on a socket or an address of their own.
import CairnControl
import CairnPlatform
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Answers `/metrics`, `/health` and `/ready`, one request a connection.
///
/// Nothing can be changed through it. What cannot be bound is logged; the daemon works without.
struct MetricsServer: Service {
  let section: MetricsSection
  /// Listening sockets that systemd has made; who may connect to them is for it to say.
  let passed: [OwnedDescriptor]
  /// Members may connect to the socket file.
  let group: UInt32?
  let logger: Logger
  let answer: @Sendable (MetricsRequest) async -> MetricsAnswer

  func run() async throws {
    var channels: [any Channel] = []
    var file: UnixListener?
    defer { file?.remove() }
    let seats = Seats()
    for descriptor in passed {
      descriptor.waitForNothing()
      do {
        let server = bootstrap(seats, on: "the metrics socket")
        channels.append(try await server.withBoundSocket(descriptor.release()).get())
      } catch { cannotListen(on: "a socket that was passed in", error) }
    }
    // With a socket unit for the same file there is nothing to be made.
    if let path = section.socket, passed.isEmpty {
      do {
        let listener = try UnixListener(
          path: path, mode: group == nil ? 0o600 : 0o660, group: group)
        file = listener
        channels.append(
          try await bootstrap(seats, on: path).withBoundSocket(listener.descriptor.release()).get())
      } catch { cannotListen(on: path, error) }
    }
    if let address = section.address {
      do {
        channels.append(
          try await bootstrap(seats, on: address.text)
            .bind(host: address.host, port: address.port).get())
      } catch { cannotListen(on: address.text, error) }
    }
    let listening = channels
    if listening.isEmpty {
      // A service that returns would end the daemon.
      return try await gracefulShutdown()
    }
    await withTaskCancellationOrGracefulShutdownHandler {
      for channel in listening { try? await channel.closeFuture.get() }
    } onCancelOrGracefulShutdown: {
      for channel in listening { channel.close(promise: nil) }
    }
  }

  private func cannotListen(on place: String, _ error: any Error) {
    logger.event(
      .metricsUnavailable, "metrics cannot be served on \(place): \(error)",
      metadata: ["address": .string(place)])
  }

  private func bootstrap(_ seats: Seats, on place: String) -> ServerBootstrap {
    let answer = answer
    return ServerBootstrap(group: NIOSingletons.posixEventLoopGroup)
      .resting(afterFailuresOn: place, logger)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        guard seats.take() else { return channel.close() }
        channel.closeFuture.whenComplete { _ in seats.giveBack() }
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(MetricsExchange(answer: answer))
        }
      }
  }

  /// Counts connections; a scraper needs one.
  private final class Seats: Sendable {
    private static let most = 16
    private let taken = Mutex(0)

    func take() -> Bool {
      taken.withLock { taken in
        guard taken < Self.most else { return false }
        taken += 1
        return true
      }
    }

    func giveBack() { taken.withLock { $0 -= 1 } }
  }
}

/// Reads one request, answers it and hangs up.
///
/// Used on its channel's event loop.
private final class MetricsExchange: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let answer: @Sendable (MetricsRequest) async -> MetricsAnswer
  private var received: [UInt8] = []
  private var isAnswered = false

  /// Time for all of it.
  private static let patience = TimeAmount.seconds(10)

  init(answer: @escaping @Sendable (MetricsRequest) async -> MetricsAnswer) {
    self.answer = answer
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    let timer = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { _ in timer.cancel() }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isAnswered else { return }
    received += Array(buffer: unwrapInboundIn(data))
    let channel = context.channel
    guard MetricsRequest.isComplete(received) else {
      guard received.count > MetricsRequest.limit else { return }
      isAnswered = true
      let long = MetricsAnswer(
        status: "431 Request Header Fields Too Large", body: "the request is too long\n")
      return Self.send(long, withBody: true, to: channel)
    }
    isAnswered = true
    switch MetricsRequest.read(received) {
    case .failure(let refusal): Self.send(refusal, withBody: true, to: channel)
    case .success(let request): Self.serve(request, answer, to: channel)
    }
  }

  private static func serve(
    _ request: MetricsRequest,
    _ answer: @escaping @Sendable (MetricsRequest) async -> MetricsAnswer,
    to channel: any Channel
  ) {
    Task { send(await answer(request), withBody: request.wantsBody, to: channel) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private static func send(
    _ answer: MetricsAnswer, withBody: Bool, to channel: any Channel
  ) {
    let buffer = ByteBuffer(bytes: answer.bytes(withBody: withBody))
    // What the client still sends is read until it hangs up, or its time is over: a socket closed with
    // unread bytes would lose the answer.
    channel.writeAndFlush(buffer).whenComplete { _ in channel.close(mode: .output, promise: nil) }
  }
}
