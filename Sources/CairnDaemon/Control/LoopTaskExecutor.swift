// Lets a task run on the thread that serves its connection.
import NIOCore

/// Runs what a task does on an event loop.
///
/// A short call is answered on the thread that read it: to wake a second one and be woken by it costs more
/// than the answer. What may block or take long must leave the loop, since other connections wait for it.
final class LoopTaskExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
