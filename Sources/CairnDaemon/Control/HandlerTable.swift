// Which handler serves which method: one line a method.
import CairnControl

/// All handlers.
enum HandlerTable {
  static func all(
    services: any DaemonServices, status: @escaping @Sendable () async -> DaemonStatus
  ) -> [AnyControlHandler] {
    [
      AnyControlHandler(GetInfoHandler()),
      AnyControlHandler(GetInterfaceDescriptionHandler()),
      AnyControlHandler(GetStatusHandler(status: status)),
      AnyControlHandler(ListStoresHandler(services: services)),
      AnyControlHandler(AddStoreHandler(services: services)),
      AnyControlHandler(RemoveStoreHandler(services: services)),
      AnyControlHandler(VerifyStoresHandler(services: services)),
      AnyControlHandler(SyncNowHandler(services: services)),
      AnyControlHandler(WaitForSyncHandler(services: services)),
      AnyControlHandler(PauseSyncHandler(services: services)),
      AnyControlHandler(ResumeSyncHandler(services: services)),
      AnyControlHandler(GetModelHandler(services: services)),
      AnyControlHandler(FetchRecordsHandler(services: services)),
      AnyControlHandler(SaveRecordsHandler(services: services)),
      AnyControlHandler(ImportRecordsHandler(services: services)),
    ]
  }
}
