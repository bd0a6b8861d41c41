// Writes at a place of a file that stays open.
import Glibc

/// Writes bytes where they belong in a file, with one call of the kernel.
public enum PositionedWrite {
  /// Writes `bytes` from `offset` on, counted in bytes from the file's beginning.
  ///
  /// - Returns: Whether all of them were written.
  public static func put(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, in descriptor: Int32
  ) -> Bool {
    retryingInterrupts { pwrite(descriptor, bytes.baseAddress, bytes.count, offset) } == bytes.count
  }
}
