import CairnModel
import CairnModelCache
import Foundation
import TestSupport
import Testing

/// The copy of its model that a SQL store keeps.
@Suite struct ModelCacheTests {
  @Test("A model comes back from the copy as it was")
  func everything() throws {
    let model = try SampleModels.everything()
    #expect(try ModelCache.decode(try ModelCache.encode(model)) == model)
  }

  @Test("Expressions of indexes, conditions of indexes and of derived attributes come back")
  func computedParts() throws {
    let model = SampleModels.computedParts()
    #expect(try ModelCache.decode(try ModelCache.encode(model)) == model)
  }

  @Test("The copy is the compiled model, compressed")
  func form() throws {
    let model = try SampleModels.everything()
    let compiled = try CompiledModel.write(model)
    let copy = try ModelCache.encode(model)
    #expect(try Inflate.decompress(copy) == compiled)
    #expect(copy.count < compiled.count)
  }
}
