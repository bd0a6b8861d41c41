package struct StageContainer {
  let container: AnyObject
  let close: () throws -> Void

  package init(_ container: AnyObject, close: @escaping () throws -> Void) {
    self.container = container
    self.close = close
  }
}
