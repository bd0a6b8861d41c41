// An atomic store written only for tests: a property list in a file, every call noted.

import Cairn
import Foundation
import Synchronization

/// Which calls the stores of a test got, by their file.
enum TextShelfCalls {
  private static let calls = Mutex<[String: [String]]>([:])
  private static let failing = Mutex<Set<String>>([])

  static func note(_ call: String, _ url: URL?) {
    calls.withLock { $0[url?.path ?? "", default: []].append(call) }
  }
  /// The calls since the last time, in their order.
  static func take(_ url: URL) -> [String] {
    calls.withLock { $0.removeValue(forKey: url.path) ?? [] }
  }
  static func setFailing(_ isFailing: Bool, at url: URL) {
    failing.withLock { paths in
      if isFailing { paths.insert(url.path) } else { paths.remove(url.path) }
    }
  }
  static func isFailing(_ url: URL?) -> Bool { failing.withLock { $0.contains(url?.path ?? "") } }
}

/// A store as a program would write it, with Core Data's methods only.
///
/// The file is a property list: metadata, and for each object its entity, reference, values and the
/// references of related objects.
// Unchecked: no state of its own.
class TextShelf: AtomicStore, @unchecked Sendable {
  class var storeType: String { "TextShelf" }

  override init(
    persistentStoreCoordinator root: PersistentStoreCoordinator?,
    configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    super.init(
      persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    TextShelfCalls.note("init", url)
  }

  override var type: String { Swift.type(of: self).storeType }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try contents(of: url)["metadata"] as? [String: Any] ?? [:]
  }

  override class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreAt url: URL
  ) throws {
    var contents = try contents(of: url)
    contents["metadata"] = metadata ?? [:]
    try PropertyListSerialization.data(fromPropertyList: contents, format: .xml, options: 0)
      .write(to: url, options: .atomic)
  }

  private static func contents(of url: URL) throws -> [String: Any] {
    let list = try PropertyListSerialization.propertyList(
      from: try Data(contentsOf: url), format: nil)
    guard let contents = list as? [String: Any] else { throw CocoaError(.fileReadCorruptFile) }
    return contents
  }

  override func loadMetadata() throws {
    TextShelfCalls.note("loadMetadata", url)
    try super.loadMetadata()
  }

  override func didAdd(to coordinator: PersistentStoreCoordinator) {
    TextShelfCalls.note("didAdd", url)
  }
  override func willRemove(from coordinator: PersistentStoreCoordinator?) {
    TextShelfCalls.note("willRemove", url)
  }

  // MARK: Reading

  override func load() throws {
    TextShelfCalls.note("load", url)
    guard let url, FileManager.default.fileExists(atPath: url.path),
      let model = persistentStoreCoordinator?.managedObjectModel
    else { return }
    let objects = try Self.contents(of: url)["objects"] as? [[String: Any]] ?? []
    var nodes: [String: AtomicStoreCacheNode] = [:]
    for object in objects {
      guard let name = object["entity"] as? String, let entity = model.entitiesByName[name],
        let reference = object["reference"] as? String
      else { throw CocoaError(.fileReadCorruptFile) }
      nodes[reference] = AtomicStoreCacheNode(
        objectID: objectID(for: entity, withReferenceObject: reference))
    }
    for object in objects {
      guard let node = nodes[object["reference"] as? String ?? ""] else { continue }
      let values = object["values"] as? [String: Any] ?? [:]
      for (name, attribute) in node.objectID.entity.attributesByName {
        node.setValue(Self.value(values[name], of: attribute), forKey: name)
      }
      let links = object["links"] as? [String: [String]] ?? [:]
      for (name, relationship) in node.objectID.entity.relationshipsByName {
        let members = (links[name] ?? []).compactMap { nodes[$0] }
        if !relationship.isToMany {
          node.setValue(members.first, forKey: name)
        } else if relationship.isOrdered {
          node.setValue(NSOrderedSet(array: members), forKey: name)
        } else {
          node.setValue(Set(members), forKey: name)
        }
      }
    }
    addCacheNodes(Set(nodes.values))
  }

  /// What a property list does not hold is kept as text.
  private static func value(_ value: Any?, of attribute: AttributeDescription) -> Any? {
    guard let text = value as? String else { return value }
    switch attribute.attributeType {
    case .decimal: return NSDecimalNumber(string: text)
    case .uuid: return UUID(uuidString: text)
    case .uri: return URL(string: text)
    case .double: return Double(text)
    case .float: return Float(text)
    case .date: return Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
    default: return text
    }
  }

  // MARK: Writing

  override func newReferenceObject(for managedObject: ManagedObject) -> Any {
    TextShelfCalls.note("newReferenceObject", url)
    return UUID().uuidString
  }

  override func newCacheNode(for managedObject: ManagedObject) -> AtomicStoreCacheNode {
    TextShelfCalls.note("newCacheNode", url)
    return super.newCacheNode(for: managedObject)
  }

  override func updateCacheNode(_ node: AtomicStoreCacheNode, from managedObject: ManagedObject) {
    TextShelfCalls.note("updateCacheNode", url)
    super.updateCacheNode(node, from: managedObject)
  }

  override func willRemoveCacheNodes(_ cacheNodes: Set<AtomicStoreCacheNode>) {
    TextShelfCalls.note("willRemoveCacheNodes \(cacheNodes.count)", url)
  }

  override func save() throws {
    TextShelfCalls.note("save", url)
    if TextShelfCalls.isFailing(url) { throw CocoaError(.fileWriteOutOfSpace) }
    guard let url else { return }
    let objects = cacheNodes().map { node -> [String: Any] in
      var values: [String: Any] = [:]
      for (name, attribute) in node.objectID.entity.attributesByName {
        values[name] = Self.listValue(node.value(forKey: name), of: attribute)
      }
      var links: [String: [String]] = [:]
      for name in node.objectID.entity.relationshipsByName.keys {
        links[name] = nodes(in: node.value(forKey: name)).map(reference)
      }
      return [
        "entity": node.objectID.entity.name ?? "", "reference": reference(node), "values": values,
        "links": links,
      ]
    }
    let contents: [String: Any] = ["metadata": metadata ?? [:], "objects": objects]
    try PropertyListSerialization.data(fromPropertyList: contents, format: .binary, options: 0)
      .write(to: url, options: .atomic)
  }

  private static func listValue(_ value: Any?, of attribute: AttributeDescription) -> Any? {
    switch attribute.attributeType {
    case .decimal: return (value as? NSDecimalNumber)?.stringValue
    case .uuid: return (value as? UUID)?.uuidString
    case .uri: return (value as? URL)?.absoluteString
    case .double: return (value as? NSNumber)?.doubleValue.description
    case .float: return (value as? NSNumber)?.floatValue.description
    case .date: return (value as? Date)?.timeIntervalSinceReferenceDate.description
    default: return value
    }
  }

  private func nodes(in value: Any?) -> [AtomicStoreCacheNode] {
    switch value {
    case let node as AtomicStoreCacheNode: return [node]
    case let set as NSOrderedSet: return set.array.compactMap { $0 as? AtomicStoreCacheNode }
    case let set as NSSet: return set.allObjects.compactMap { $0 as? AtomicStoreCacheNode }
    case let set as Set<AtomicStoreCacheNode>: return Array(set)
    default: return []
    }
  }

  private func reference(_ node: AtomicStoreCacheNode) -> String {
    referenceObject(for: node.objectID) as? String ?? "?"
  }
}
