import CairnPlatform

extension DynamicLibrary {
  /// The function of that name as its type has it.
  ///
  /// The cast is as safe as `CLibPQ.h` is right: the types there are those of libpq's documentation, and a version of
  /// libpq with the same number in its file name does not change them.
  func function<Function>(_ symbol: String, as type: Function.Type) throws -> Function {
    unsafeBitCast(try function(symbol), to: type)
  }
}
