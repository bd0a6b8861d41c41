// A reply in the form in which it goes to the client.
import CairnControl
import NIOCore

/// The bytes of one reply, its NUL included; sent as often as they are asked for.
struct ReplyFrame: Sendable {
  let buffer: ByteBuffer

  init(_ reply: ControlReply) { buffer = ByteBuffer(bytes: MessageFraming.frame(reply.message)) }

  init(failure: ControlError) { self.init(ControlReply(failure: failure)) }

  /// - Parameter continues: Whether more replies to the same call follow.
  init(of reply: some Encodable, continues: Bool = false) throws {
    let members = try JSONValueEncoder.encode(reply).objectValue ?? [:]
    self.init(ControlReply(parameters: members, continues: continues))
  }
}
