// A reply in the form in which it goes to the client.
import CairnControl
import NIOCore

/// The bytes of one reply, its NUL included, which are sent as often as they are asked for.
struct ReplyFrame: Sendable {
  let buffer: ByteBuffer

  init(_ reply: ControlReply) { buffer = ByteBuffer(bytes: MessageFraming.frame(reply.message)) }

  init(failure: ControlError) { self.init(ControlReply(failure: failure)) }

  /// - Parameter continues: Whether more replies to the same call follow.
  /// - Throws: ``CairnControl/ControlError/limitExceeded(limit:reason:)`` for one that no client takes.
  init(of reply: some Encodable, continues: Bool = false) throws {
    let members = try JSONValueEncoder.encode(reply).objectValue ?? [:]
    self.init(ControlReply(parameters: members, continues: continues))
    let limit = JSONLimits.answer.byteCount
    guard buffer.readableBytes <= limit else {
      throw ControlError.limitExceeded(
        limit: limit, reason: "an answer would have \(Readable.bytes(buffer.readableBytes))")
    }
  }
}
