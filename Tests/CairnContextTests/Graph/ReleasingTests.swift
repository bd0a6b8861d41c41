// What it costs to let go of many objects.
import CairnContext
import CairnModel
import CairnStore
import Foundation
import Testing

/// Objects that nobody holds leave the context's registry, and their rows the row cache: one after
/// the other, whose keys are numbers in a row.
@Suite struct ReleasingTests {
  /// The time that this thread has worked: others on the machine do not stretch it.
  private var threadSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// The shortest time of three that a context takes to forget `count` objects and their rows.
  private func secondsToForget(_ count: Int) throws -> Double {
    let stack = try Stack()
    try stack.use { context in
      for _ in 0..<count { context.make("Tag") }
      try context.save()
    }
    return try stack.use { context in
      let request = FetchRequest<ManagedObject>(entityName: "Tag")
      request.returnsObjectsAsFaults = false
      var best = Double.infinity
      for _ in 0..<3 {
        var tags = try context.fetch(request)
        #expect(tags.count == count)
        let start = threadSeconds
        tags.removeAll()
        // Rows are given up in batches, when an event ends.
        context.processPendingChanges()
        best = min(best, threadSeconds - start)
        #expect(context.registeredObjects.isEmpty)
      }
      return best
    }
  }

  @Test func lettingGoOfTenTimesAsManyObjectsTakesTenTimesAsLongAndNotAHundredTimes() throws {
    let (few, many) = (try secondsToForget(3000), try secondsToForget(30_000))
    // Caches make it a little more than ten times; the square would be a hundred.
    #expect(many < few * 40, "\(few) s for 3000, \(many) s for 30000")
  }
}
