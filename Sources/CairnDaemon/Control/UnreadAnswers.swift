// Ends connections whose clients do not read what they have asked for.
import NIOCore

/// Closes a connection whose queue of answers has been full for too long.
///
/// Kept by the channel, not by each answer: a timer for each would wake the event loop twice more a call.
final class UnreadAnswers: ChannelInboundHandler {
  typealias InboundIn = [UInt8]
  typealias InboundOut = [UInt8]

  // Used on the channel's event loop only.
  private var deadline: Scheduled<Void>?
  private let limit: TimeAmount
  private let onDrop: () -> Void

  /// - Parameters:
  ///   - limit: How long a client may leave a full queue unread.
  ///   - onDrop: Called on the event loop before a connection is closed.
  init(limit: TimeAmount, onDrop: @escaping () -> Void) {
    self.limit = limit
    self.onDrop = onDrop
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { stopTimer() } else { startTimer(context) }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    stopTimer()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { stopTimer() }

  private func startTimer(_ context: ChannelHandlerContext) {
    guard deadline == nil else { return }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    deadline = context.eventLoop.scheduleTask(in: limit) {
      let (own, context) = bound.value
      own.deadline = nil
      own.onDrop()
      context.close(promise: nil)
    }
  }

  private func stopTimer() {
    deadline?.cancel()
    deadline = nil
  }
}
