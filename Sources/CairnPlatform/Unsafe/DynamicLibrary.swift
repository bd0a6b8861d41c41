// A shared library that is loaded while the program runs, and the functions in it.
import Glibc

/// A shared library that stays loaded for as long as the process lives.
public struct DynamicLibrary: Sendable {
  /// Why a library or a function of it is not there, in the dynamic linker's words.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    public let description: String
  }

  // An address that never changes: nothing unloads the library.
  private let address: UInt
  public let name: String

  /// Loads the library with a name such as `libpq.so.5`, where the system's linker finds it.
  ///
  /// - Throws: ``Failure`` when it is not installed.
  public init(loading name: String) throws {
    guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { throw Self.lastFailure(of: name) }
    address = UInt(bitPattern: handle)
    self.name = name
  }

  /// The address of a function.
  ///
  /// - Throws: ``Failure`` when the library has none of that name.
  public func function(_ symbol: String) throws -> UnsafeMutableRawPointer {
    guard let found = dlsym(UnsafeMutableRawPointer(bitPattern: address), symbol) else {
      throw Self.lastFailure(of: "\(symbol) in \(name)")
    }
    return found
  }

  private static func lastFailure(of name: String) -> Failure {
    Failure(description: dlerror().map { String(cString: $0) } ?? "\(name) cannot be loaded")
  }
}
