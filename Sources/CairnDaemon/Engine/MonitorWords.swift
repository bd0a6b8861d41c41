// What sync tells of, as callers see it.

import CairnControl
import CairnSync

extension MonitorDaemon.Event {
  init(_ event: SyncEvent, date: WireDate) {
    switch event {
    case .phaseChanged(let replica, let phase):
      self.init(date: date, kind: .phase, replica: replica, state: phase.word)
      switch phase {
      case .waiting(_, let error), .failed(let error): text = error.message
      case .awaitingApproval(let plan): text = plan.message
      case .opening, .migrating, .ready, .syncing, .paused, .removed: break
      }
    case .passCompleted(let replica, let pulled, let pushed, let conflicts, let milliseconds):
      self.init(
        date: date, kind: .pass, replica: replica, pulled: pulled, pushed: pushed,
        conflicts: conflicts, milliseconds: Int(clamping: milliseconds))
    case .passFailed(let replica, let error):
      self.init(
        date: date, kind: .passFailed, replica: replica, state: error.code.rawValue,
        text: error.message)
    case .firstSync(let replica, let progress):
      self.init(
        date: date, kind: .firstSync, replica: replica, text: "\(Int(progress * 100)) %")
    case .quarantined(let replica, let name):
      self.init(date: date, kind: .quarantined, replica: replica, text: name)
    case .clockFellBack(let replica, let path, let milliseconds):
      self.init(
        date: date, kind: .clockFellBack, replica: replica,
        milliseconds: Int(clamping: milliseconds),
        text: path)
    case .madeAnew(let replica, let path):
      self.init(date: date, kind: .madeAnew, replica: replica, text: path)
    case .restored(let replica, let path):
      self.init(date: date, kind: .restored, replica: replica, text: path)
    case .historyLost(let replica, let path):
      self.init(date: date, kind: .historyLost, replica: replica, text: path)
    case .expired(let replica, let path, let reader):
      self.init(date: date, kind: .expired, replica: replica, text: "\(reader) of \(path)")
    case .returned(let replica, let path, let deleted):
      self.init(
        date: date, kind: .returned, replica: replica, text: "\(path), \(deleted) deleted")
    }
  }
}
