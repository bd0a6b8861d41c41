// Cuts a connection's bytes into messages and ends connections that misbehave on the way.
import CairnControl
import NIOCore

/// Turns bytes into whole messages, within the size limit and the time for one message.
final class MessageFrameDecoder: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = [UInt8]
  typealias OutboundOut = ByteBuffer

  // Used on the channel's event loop only.
  private var framing: MessageFraming
  private var deadline: Scheduled<Void>?
  private var isFinished = false
  private let messageTimeout: TimeAmount

  init(limit: Int, messageTimeout: TimeAmount) {
    framing = MessageFraming(limit: limit)
    self.messageTimeout = messageTimeout
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isFinished else { return }
    let buffer = unwrapInboundIn(data)
    do {
      let messages = try framing.append(buffer.readableBytesView)
      if !messages.isEmpty || !framing.isInsideMessage { stopTimer() }
      for message in messages { context.fireChannelRead(wrapInboundOut(message)) }
      if framing.isInsideMessage, deadline == nil { startTimer(context) }
    } catch let overflow as MessageFraming.Overflow {
      refuse(context, .messageTooLarge(limit: overflow.limit))
    } catch {
      context.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { stopTimer() }

  func channelInactive(context: ChannelHandlerContext) {
    stopTimer()
    context.fireChannelInactive()
  }

  private func startTimer(_ context: ChannelHandlerContext) {
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    let own = NIOLoopBound(self, eventLoop: context.eventLoop)
    deadline = context.eventLoop.scheduleTask(in: messageTimeout) {
      own.value.refuse(bound.value, .busy(reason: "a message took too long to arrive"))
    }
  }

  private func stopTimer() {
    deadline?.cancel()
    deadline = nil
  }

  private func refuse(_ context: ChannelHandlerContext, _ error: ControlError) {
    guard !isFinished else { return }
    isFinished = true
    stopTimer()
    let reply = ReplyFrame(failure: error)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(reply.buffer)).whenComplete { _ in
      bound.value.close(promise: nil)
    }
  }
}
