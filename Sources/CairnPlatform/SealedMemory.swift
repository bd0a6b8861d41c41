// A file that lives in memory and cannot change any more.
import CPlatform
import Glibc

/// Bytes in a sealed memory file, to be handed to another process by its descriptor.
public struct SealedMemory: Sendable {
  /// The descriptor of the memory file.
  public let descriptor: OwnedDescriptor

  /// Copies `bytes` into a new memory file and seals it.
  public init(name: String, bytes: [UInt8]) throws {
    let opened = cplatform_memfd_create(name)
    guard opened >= 0 else {
      throw PlatformError("make a memory file", path: name, code: .current)
    }
    descriptor = OwnedDescriptor(adopting: opened)
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { buffer -> Int in
        let rest = UnsafeRawBufferPointer(rebasing: buffer[offset...])
        return retryingInterrupts { write(opened, rest.baseAddress, rest.count) }
      }
      guard count > 0 else {
        throw PlatformError("write to a memory file", path: name, code: .current)
      }
      offset += count
    }
    guard cplatform_memfd_seal(opened) == 0 else {
      throw PlatformError("seal a memory file", path: name, code: .current)
    }
  }
}
