// Stores of programs' classes, made of a class that is known only while the program runs.
//
// Swift makes objects of such a class through required initializers alone, and a subclass that has a
// designated initializer of its own would have to write those out, which no program for Apple's
// platforms does. A convenience initializer, though, is handed the class that it makes an object of
// and asks it for the designated one, as it does for a subclass that inherits both. Here it is called
// by its symbol with the class at hand. A class that does not have the designated initializer stops
// the program with the message that it stops with on Apple's platforms ("Use of unimplemented
// initializer").

extension PersistentStore {
  package convenience init(byFramework configuration: StoreConfiguration) {
    self.init(configuration: configuration)
  }

  @_silgen_name("$s10CairnStore010PersistentB0C11byFrameworkAcA0B13ConfigurationV_tcfC")
  private class func madeByFramework(_ configuration: __owned StoreConfiguration) -> PersistentStore

  /// A store of a class, which nobody has opened yet.
  package static func make(
    _ type: PersistentStore.Type, configuration: StoreConfiguration
  ) -> PersistentStore {
    type.madeByFramework(configuration)
  }
}
