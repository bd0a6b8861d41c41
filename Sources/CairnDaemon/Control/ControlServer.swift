// The control socket: accepts clients, finds out who they are, and serves them.
import CairnControl
import CairnPlatform
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Serves the control protocol on Unix sockets.
final class ControlServer: Service {
  struct Settings: Sendable {
    /// The socket to make when none was passed in.
    var path: String
    var statusGroup: UInt32?
    var adminGroup: UInt32?
    var limits = ConnectionTable.Limits()
    /// Bytes of one call.
    var messageLimit = JSONLimits.message.byteCount
    /// Time for a message that has begun to arrive.
    var messageTimeout = TimeAmount.seconds(10)
    /// How long a client may leave a full queue of answers unread.
    var writeTimeout = TimeAmount.seconds(30)
    /// Time for a caller that gets no place to read why.
    var refusalTimeout = TimeAmount.seconds(2)
    /// Time for calls in progress when stopping.
    var drainTimeout = Duration.seconds(5)
  }

  private let settings: Settings
  private let dispatcher: ControlDispatcher
  private let table: ConnectionTable
  private let refusals = EventThrottle()
  /// Of clients that were disconnected, by user.
  private let drops = EventThrottle()
  private let roles: ControlRoles
  private let figures: ServiceFigures
  private let logger: Logger
  private let passed: [OwnedDescriptor]
  private let kept: KeptSocket?
  private let onListening: @Sendable () async -> Void
  private let endings: StreamEndings
  /// For rows that come in parts.
  private let room = RowParts.Room()

  /// - Parameters:
  ///   - passed: The sockets of a socket unit.
  ///   - kept: Makes the socket where none is passed; when nil, the server makes one that systemd does not keep.
  ///   - roles: Who may do what; by the groups of `settings` when nil.
  ///   - figures: Where connections and refusals are counted.
  init(
    settings: Settings, passed: [OwnedDescriptor] = [], kept: KeptSocket? = nil,
    roles: ControlRoles? = nil, figures: ServiceFigures = ServiceFigures(),
    dispatcher: ControlDispatcher, endings: StreamEndings = StreamEndings(), logger: Logger,
    onListening: @escaping @Sendable () async -> Void = {}
  ) {
    self.settings = settings
    self.passed = passed
    self.kept = kept
    self.dispatcher = dispatcher
    self.logger = logger
    self.onListening = onListening
    self.endings = endings
    self.figures = figures
    table = ConnectionTable(limits: settings.limits, figures: figures)
    self.roles = roles ?? ControlRoles(settings, passed: passed)
  }

  /// Connections now.
  var connectionCount: Int { table.count }

  /// Serves until graceful shutdown or cancellation.
  ///
  /// The socket file is gone afterwards.
  func run() async throws {
    let listeners = try openListeners()
    defer {
      for listener in listeners { listener.remove() }
      kept?.forget()
    }
    let group = NIOSingletons.posixEventLoopGroup
    var channels: [any Channel] = []
    for listener in listeners { channels.append(try await serve(listener, on: group)) }
    await onListening()
    let listening = channels
    await withTaskCancellationOrGracefulShutdownHandler {
      for channel in listening { try? await channel.closeFuture.get() }
    } onCancelOrGracefulShutdown: {
      for channel in listening { channel.close(promise: nil) }
    }
    await drain()
  }

  /// Returns when each of the threads that serve connections has come to it.
  static func turn() async {
    for loop in NIOSingletons.posixEventLoopGroup.makeIterator() {
      try? await loop.submit {}.get()
    }
  }

  private func openListeners() throws -> [UnixListener] {
    if !passed.isEmpty { return try passed.map { try UnixListener(adopting: $0) } }
    let access = roles.access
    if let kept {
      return [try kept.listener(at: settings.path, mode: access.mode, group: access.group)]
    }
    return [try UnixListener(path: settings.path, mode: access.mode, group: access.group)]
  }

  private func serve(_ listener: UnixListener, on group: any EventLoopGroup) async throws
    -> any Channel
  {
    try await ServerBootstrap(group: group)
      .resting(afterFailuresOn: settings.path, logger)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(
        .writeBufferWaterMark, value: .init(low: 64 * 1024, high: 256 * 1024)
      )
      .childChannelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture { try welcome(channel) }
      }
      .withBoundSocket(listener.descriptor.release()).get()
  }

  /// Sets a new connection up and starts serving it.
  ///
  /// Runs on its event loop.
  private func welcome(_ channel: any Channel) throws {
    let credentials = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
      of: NIOBSDSocket.Handle.self
    ) { try PeerCredentials(ofSocket: $0) }
    guard let credentials else { throw PlatformError("identify a caller", code: .notASocket) }
    let decoder = MessageFrameDecoder(
      limit: settings.messageLimit, messageTimeout: settings.messageTimeout)
    let unread = UnreadAnswers(limit: settings.writeTimeout) { [drops, figures, logger] in
      figures.refused(.unread)
      guard drops.isDue("\(credentials.user)") else { return }
      logger.event(
        .connectionDropped, "a client does not read its answers",
        metadata: [
          "clientUid": "\(credentials.user)", "clientPid": "\(credentials.process)",
        ])
    }
    try channel.pipeline.syncOperations.addHandlers([decoder, unread])
    let asyncChannel = try ControlConnection.Channel(wrappingChannelSynchronously: channel)
    let role = roles.role(of: credentials)
    let number = table.admit(user: credentials.user, isOwner: role == .owner) {
      channel.close(promise: nil)
    }
    guard let number else {
      if refusals.isDue("\(credentials.user)") {
        logger.event(
          .callRefused, "too many connections",
          metadata: ["clientUid": "\(credentials.user)", "clientPid": "\(credentials.process)"])
      }
      let mayExplain = table.beginTurningAway()
      Task { [table, settings] in
        await Self.turnAway(
          channel, asyncChannel, explaining: mayExplain, within: settings.refusalTimeout)
        if mayExplain { table.endTurningAway() }
      }
      return
    }
    let caller = ControlCaller(
      user: credentials.user, process: credentials.process, role: .none, connection: number)
    let connection = ControlConnection(
      channel: asyncChannel, client: caller,
      role: { [roles] in roles.role(of: credentials) }, dispatcher: dispatcher, table: table,
      parts: RowParts(room), logger: logger)
    let table = table
    let task = Task(executorPreference: LoopTaskExecutor(channel.eventLoop)) {
      await connection.run()
      table.remove(number)
    }
    // A client that goes away takes its call with it.
    channel.closeFuture.whenComplete { _ in task.cancel() }
  }

  /// Says that there is no room, then reads what the caller still sends until it hangs up: a socket
  /// closed with unread bytes would lose the answer.
  private static func turnAway(
    _ channel: any Channel, _ connection: ControlConnection.Channel, explaining: Bool,
    within limit: TimeAmount
  ) async {
    guard explaining else {
      try? await connection.executeThenClose { _, _ in }
      return
    }
    let end = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    let reply = ReplyFrame(failure: .busy(reason: "too many connections"))
    try? await connection.executeThenClose { inbound, outbound in
      try await outbound.write(reply.buffer)
      for try await _ in inbound {}
    }
    end.cancel()
  }

  private func drain() async {
    table.drain()
    endings.endAll()
    let deadline = ContinuousClock.now + settings.drainTimeout
    while table.count > 0, ContinuousClock.now < deadline, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(10))
    }
    table.closeAll()
  }
}

/// Runs what a task does on an event loop.
///
/// A short call is answered on the thread that read it: to wake a second one and be woken by it costs more
/// than the answer. What may block or take long must leave the loop, since other connections wait for it.
final class LoopTaskExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
