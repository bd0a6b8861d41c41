// What keeps a listening socket from taking connections.
import CairnPlatform
import Foundation
import Logging
import NIOCore
import NIOPosix

extension ServerBootstrap {
  /// Tries again after a second where a connection cannot be taken, and logs it.
  ///
  /// The usual reason is the limit of open files. The kernel reports a connection that waits again at once, so that a
  /// server which tried at once would use up a core for as long as it waits.
  ///
  /// - Parameter place: The path or address, for people.
  func resting(afterFailuresOn place: String, _ logger: Logger) -> ServerBootstrap {
    serverChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(
          AcceptFailures(place: place, logger: logger))
      }
    }
  }
}

/// Rests after a failure, and logs why, once in five minutes.
///
/// NIO's `AcceptBackoffHandler` delays the next read that is asked for; NIO itself asks for none after a failure, but
/// goes on with the one that has failed, until reading is turned off.
private final class AcceptFailures: ChannelInboundHandler, Sendable {
  typealias InboundIn = any Channel

  private static let rest = TimeAmount.seconds(1)
  private let place: String
  private let logger: Logger
  private let throttle = EventThrottle()
  /// As it is at the start: who has no file left to open cannot read it.
  private let mostFiles = ProcessFigures.mostOpenFiles

  init(place: String, logger: Logger) {
    self.place = place
    self.logger = logger
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let failure = error as? IOError else { return context.fireErrorCaught(error) }
    let channel = context.channel
    channel.setOption(.autoRead, value: false).whenComplete { _ in
      channel.eventLoop.scheduleTask(in: Self.rest) {
        channel.setOption(.autoRead, value: true)
      }
    }
    let code = ErrnoCode(rawValue: failure.errnoCode)
    guard throttle.isDue(code.word) else { return }
    let advice = advice(code).map { "; \($0)" } ?? ""
    logger.event(
      .acceptFailed, "connections to \(place) have to wait: \(code.explanation)\(advice)",
      metadata: ["errorCode": .string(code.word), "socket": .string(place)])
  }

  private func advice(_ code: ErrnoCode) -> String? {
    guard code.rawValue == EMFILE else { return code.advice }
    let now = mostFiles.map { " from \($0)" } ?? ""
    return "raise the limit of open files\(now) with LimitNOFILE= in the unit"
  }
}
