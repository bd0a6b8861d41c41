import CairnModel

/// The kind of queue of a context, with Core Data's raw values.
public enum ManagedObjectContextConcurrencyType: UInt, Sendable {
  /// The thread that made the context; deprecated.
  case confinementConcurrencyType = 0
  case privateQueueConcurrencyType = 1
  case mainQueueConcurrencyType = 2
}

extension ManagedObjectContext {
  /// The kind of queue of a context, in the words of Core Data's Swift overlay.
  public struct ConcurrencyType: Hashable, RawRepresentable, Sendable {
    public var rawValue: ManagedObjectContextConcurrencyType
    public init(rawValue: ManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
    /// A serial queue of the context's own.
    public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
    /// The main queue.
    public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
  }

  /// When an asynchronous block runs.
  public enum ScheduledTaskType: Hashable, Sendable {
    /// At once when the caller is on the context's queue, otherwise enqueued.
    case immediate
    /// After everything that is waiting.
    case enqueued
  }
}

/// A context that is not kept alive.
typealias ContextReference = LooseReference<ManagedObjectContext>

extension LooseReference<ManagedObjectContext> {
  var context: ManagedObjectContext? { target }
}

/// Where a context reads, and what it has read last.
struct ContextReading {
  /// Nil for a context that is attached to nothing.
  var source: (any RowSource)?
  /// The relationship whose members were listed last without the rows of all.
  weak var lastMembers: ToManyValue?
}
