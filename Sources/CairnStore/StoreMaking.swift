// Makes stores of programs' classes, which Cairn knows only while the program runs.
//
// Swift makes objects of such a class through required initializers alone, and a subclass that has a
// designated initializer of its own would have to write those out, which no program for Apple's
// platforms does. A convenience initializer, though, receives the class that it makes an object of and
// asks that class for the designated one, as it does for a subclass that inherits both. Cairn calls the
// convenience initializer by its symbol; the linker refuses a symbol that does not exist.
//
// Swift stops the program, and names class and initializer, where a class has hidden the designated one.
// Only the program's source decides that: it registers the class, and no file names a store class.

extension PersistentStore {
  package convenience init(byFramework configuration: StoreConfiguration) {
    self.init(configuration: configuration)
  }

  @_silgen_name("$s10CairnStore010PersistentB0C11byFrameworkAcA0B13ConfigurationV_tcfC")
  private class func madeByFramework(_ configuration: __owned StoreConfiguration) -> PersistentStore

  /// Makes a store of a class; the coordinator opens it afterwards.
  package static func make(
    _ type: PersistentStore.Type, configuration: StoreConfiguration
  ) -> PersistentStore {
    type.madeByFramework(configuration)
  }
}
