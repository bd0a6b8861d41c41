// Serves io.cairn.Store.
import CairnControl

extension HandlerTable {
  mutating func serveStores() {
    serve(ListStores.self) { _, engine in .init(stores: try await engine.stores()) }

    serve(AddStore.self) { parameters, engine in try await engine.addStore(parameters) }

    serve(RemoveStore.self) { parameters, engine in
      try await engine.removeStore(named: parameters.name)
      return NoValues()
    }

    // It reads everything.
    let verification = ExclusiveWork("another verification")
    stream(VerifyStores.self) { parameters, engine, send in
      try await verification.run {
        let group = try await engine.current()
        let summary = try await Verification(group: group, names: try group.names(parameters.name))
          .run(report: send)
        return .init(summary: summary)
      }
    }
  }
}
