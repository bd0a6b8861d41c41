import CairnModel

/// Which bit of `ZCOLUMNS` stands for which property of an entity, and which attributes a deleted
/// object leaves behind.
///
/// The order is: to-one relationships, attributes, to-many relationships; in each group inherited
/// ones first, then by name.
package struct SQLHistoryColumns: Sendable {
  package let names: [String]
  /// By slot; -1 for transient ones.
  package let bitOfSlot: [Int]
  /// By index of the to-many relationship.
  package let bitOfToMany: [Int]
  /// The slots of attributes that are kept on deletion, in the order of the tombstone columns; a
  /// composite is kept with all its leaves.
  package let tombstoneSlots: [Int]

  init(entity: EntityDescription) {
    let layout: EntityLayout = entity.layout
    var chain: [EntityDescription] = []
    var next: EntityDescription? = entity
    while let current = next {
      chain.insert(current, at: 0)
      next = current.superentity
    }
    func group(_ test: (PropertyDescription) -> Bool) -> [PropertyDescription] {
      chain.flatMap { owner in
        owner.declaredProperties.filter { !$0.isTransient && test($0) }
          .sorted { $0.name < $1.name }
      }
    }
    let toOnes = group { ($0 as? RelationshipDescription)?.isToMany == false }
    let attributes = group { $0 is AttributeDescription }
    let toManys = group { ($0 as? RelationshipDescription)?.isToMany == true }
    let names = (toOnes + attributes + toManys).map(\.name)
    let bits = Dictionary(
      names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    self.names = names
    bitOfSlot = layout.slots.map { slot in
      if slot.isTransient { return -1 }
      if let bit = bits[slot.name] { return bit }
      // A leaf of a composite: the composite is the property.
      let owner = slot.name.split(separator: ".").first.map(String.init) ?? slot.name
      return bits[owner] ?? -1
    }
    bitOfToMany = layout.toManys.map { bits[$0.name] ?? -1 }
    tombstoneSlots = layout.slotsKeptOnDeletion
  }

  /// The bit field for changed slots and to-many relationships.
  package func mask(slots: [Int], toManys: [Int]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: (names.count + 7) / 8)
    for bit in slots.map({ bitOfSlot[$0] }) + toManys.map({ bitOfToMany[$0] }) where bit >= 0 {
      bytes[bit / 8] |= 0x80 >> UInt8(bit % 8)
    }
    return bytes
  }

  /// The properties of a bit field; surplus bytes are ignored.
  package func properties(in mask: some Collection<UInt8>) -> Set<String> {
    var result: Set<String> = []
    for (index, byte) in mask.enumerated() {
      for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
        let position = index * 8 + bit
        if position < names.count { result.insert(names[position]) }
      }
    }
    return result
  }
}
