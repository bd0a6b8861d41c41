// Where boxes stand.
import CairnControl
import CairnDiagrams
import Foundation
import Testing

@Suite struct DiagramLayoutTests {
  /// A model of entities with random numbers of attributes and random relationships.
  private func model(seed: UInt64) -> ModelSummary {
    var random = SplitMix(state: seed)
    let count = Int.random(in: 1...40, using: &random)
    var entities = (0..<count).map { index in
      EntitySummary(
        name: "Entity\(index)",
        attributes: (0..<Int.random(in: 0...30, using: &random)).map {
          AttributeSummary(name: "attribute\($0)", type: "Integer 64", isOptional: true)
        })
    }
    for index in 0..<Int.random(in: 0...60, using: &random) {
      let from = Int.random(in: 0..<count, using: &random)
      let to = Int.random(in: 0..<count, using: &random)
      entities[from].relationships.append(
        RelationshipSummary(
          name: "relationship\(index)", destination: "Entity\(to)",
          isToMany: index.isMultiple(of: 2),
          deleteRule: "nullify"))
    }
    return ModelSummary(name: "Random", entities: entities)
  }

  private var seed: UInt64 {
    ProcessInfo.processInfo.environment["CAIRN_TEST_SEED"].flatMap(UInt64.init)
      ?? UInt64.random(in: 0...1_000_000)
  }

  @Test func everyBoxIsInThePictureAndNoneCoversAnother() {
    let first = seed
    for seed in first..<first + 60 {
      let diagram = EntityDiagram(model(seed: seed))
      let layout = DiagramLayout(diagram)
      #expect(layout.frames.count == diagram.boxes.count, "CAIRN_TEST_SEED=\(seed)")
      let frames = Array(layout.frames.values)
      for (index, frame) in frames.enumerated() {
        let isInside =
          frame.x >= 0 && frame.y >= 0 && frame.x + frame.width <= layout.width
          && frame.y + frame.height <= layout.height
        #expect(isInside, "CAIRN_TEST_SEED=\(seed)")
        for other in frames[(index + 1)...] {
          let isBeside = frame.x + frame.width <= other.x || other.x + other.width <= frame.x
          let isAbove = frame.y + frame.height <= other.y || other.y + other.height <= frame.y
          #expect(isBeside || isAbove, "CAIRN_TEST_SEED=\(seed)")
        }
      }
    }
  }

  @Test func theSameModelHasTheSameLayout() {
    let model = model(seed: seed)
    #expect(
      DiagramLayout(EntityDiagram(model)).frames == DiagramLayout(EntityDiagram(model)).frames)
    var shuffled = model
    shuffled.entities.reverse()
    #expect(
      DiagramLayout(EntityDiagram(model)).frames == DiagramLayout(EntityDiagram(shuffled)).frames)
  }

  @Test func aPictureOfOneHubIsNotOneHighColumn() {
    let spokes = (0..<29).map { index in
      EntitySummary(
        name: "Spoke\(index)",
        attributes: (0..<6).map {
          AttributeSummary(name: "a\($0)", type: "String", isOptional: true)
        },
        relationships: [
          RelationshipSummary(
            name: "hub", destination: "Hub", isToMany: false, deleteRule: "nullify")
        ])
    }
    let model = ModelSummary(name: "Star", entities: [EntitySummary(name: "Hub")] + spokes)
    let layout = DiagramLayout(EntityDiagram(model))
    #expect(layout.height < 1500, "a screen and a half")
  }

  @Test func aModelWithoutEntitiesIsAnEmptyPicture() {
    let diagram = EntityDiagram(ModelSummary(name: "Empty", entities: []))
    #expect(DiagramLayout(diagram).frames.isEmpty)
    #expect(diagram.svg().contains("</svg>"))
  }
}

/// Random numbers from a seed (Steele, Lea and Flood 2014).
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
