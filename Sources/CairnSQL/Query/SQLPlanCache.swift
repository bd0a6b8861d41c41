import CairnModel
import CairnStore
import Synchronization

/// The forms of the requests that were planned lately, so that a request of a known shape only
/// binds its constants.
///
/// Each schema has one: a form is made from nothing but the schema and the shape of the request, so
/// that nothing a store does makes it wrong, and a migrated store, whose schema is another, begins
/// anew.
final class SQLPlanCache: Sendable {
  private final class Entry: Sendable {
    let template: SQLRequestTemplate
    let form: SQLQueryForm

    init(_ template: SQLRequestTemplate, _ form: SQLQueryForm) {
      self.template = template
      self.form = form
    }
  }

  private struct State {
    var entries: [Entry] = []
    /// The place of the entry that goes next, once there are as many as there may be.
    var oldest = 0
  }

  /// The first few parts of a shape show that it does not fit, so that looking through
  /// so many costs less than planning.
  private static let maximumCount = 32

  private let state = Mutex(State())

  /// The form of a request's shape with the request's own values; nil when none is known.
  func find(
    _ request: StoreFetchRequest, of entity: SQLEntity, schema: SQLSchema, store: StoreIdentity?
  ) -> (form: SQLQueryForm, bindings: [AttributeValue])? {
    if case .dictionaries = request.result { return nil }
    let entries = state.withLock { $0.entries }
    if entries.isEmpty { return nil }
    let node = request.predicate?.node
    for entry in entries where entry.template.entityNumber == entity.number {
      if let bindings = entry.template.bindings(of: request, node, schema, store) {
        return (entry.form, bindings)
      }
    }
    return nil
  }

  func keep(_ form: SQLQueryForm, of template: SQLRequestTemplate) {
    let entry = Entry(template, SQLQueryForm(writing: form, isLimited: template.isLimited))
    state.withLock { state in
      if state.entries.count < Self.maximumCount {
        state.entries.append(entry)
      } else {
        state.entries[state.oldest] = entry
        state.oldest = (state.oldest + 1) % Self.maximumCount
      }
    }
  }
}
