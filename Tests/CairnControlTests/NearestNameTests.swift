// Guesses at names.
import CairnControl
import Testing

@Suite struct NearestNameTests {
  @Test func aGuessIsNeverTheWordItself() {
    #expect(NearestName.find("addr", among: ["addr", "adder"]) == "adder")
    #expect(NearestName.find("addr", among: ["addr"]) == nil)
  }
}
