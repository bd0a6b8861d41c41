// The description of io.cairn.Store.

extension InterfaceDescription {
  /// The stores of the group.
  public static let store = InterfaceDescription(
    text: """
      # The stores of the group: one local store and its replicas.
      interface io.cairn.Store

      type Store (
        name: string,
        role: (local, replica),
        type: string,
        location: string,
        direction: ?(both, push, pull),
        origin: (configuration, command),
        state: string,
        identifier: ?string
      )

      type Problem (code: string, message: string)

      type VerifyProgress (store: string, entity: string, done: int, total: ?int)

      # What is not as in the local store, or not as it must be. Never holds values of rows.
      type Difference (
        store: string,
        kind: (missing, extra, value, damage),
        entity: ?string,
        record: ?string,
        property: ?string,
        detail: string
      )

      type StoreSummary (
        store: string,
        records: int,
        digest: ?string,
        differences: int,
        problem: ?Problem
      )

      type VerifySummary (stores: []StoreSummary, isEqual: bool)

      # All stores with their settings. Role: status.
      method List() -> (stores: []Store)

      # Add a replica and return at once; GetStatus shows how it comes along. Adding a store that
      # exists with the same settings succeeds with added false. Role: control.
      method Add(
        name: string,
        type: string,
        location: string,
        direction: ?(both, push, pull)
      ) -> (store: Store, added: bool)

      # End the link to a replica. Its file stays. Role: control.
      method Remove(name: string) -> ()

      # Check stores and compare replicas with the local store. Needs more: progress and
      # differences come as they are found, and a summary last. Role: control.
      method Verify(name: ?string) -> (
        progress: ?VerifyProgress,
        difference: ?Difference,
        summary: ?VerifySummary
      )

      error StoreNotFound (name: string)

      # The name is taken by a store with other settings.
      error StoreExists (name: string, reason: string)

      # The store cannot be used now. The code stays the same across versions.
      error StoreUnavailable (name: string, code: string, reason: string)

      # The settings are wrong; field says which one.
      error StoreInvalid (name: string, field: string, reason: string)

      error ModelIncompatible (name: string, reason: string)
      """)
}
