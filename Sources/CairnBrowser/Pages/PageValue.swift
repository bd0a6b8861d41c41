// A value as a page shows it.

import Cairn
import CairnControl
import CairnRecords
import Foundation

/// One value of a record.
struct PageValue: Sendable, Hashable {
  enum Kind: String, Sendable {
    case none, text, number, flag, date, bytes, reference, count
  }

  // Templates see stored properties only, and look in what is around a value for names that it lacks:
  // these are used nowhere else.
  let kind: Kind
  let style: String
  let isNone: Bool
  let text: String
  /// Where the value leads to: a record, or its bytes.
  let target: String?
  /// The address of a picture that the bytes are.
  let picture: String?

  static let none = PageValue(kind: .none, text: "")

  /// The value of an attribute.
  ///
  /// - Parameters:
  ///   - limit: The largest number of characters that is shown.
  ///   - bytes: The address where bytes are handed out.
  init(_ value: AttributeValue, limit: Int, bytes: @autoclosure () -> String) {
    switch value {
    case .null, .object: self = .none
    case .boolean(let flag): self.init(kind: .flag, text: flag ? "true" : "false")
    case .integer(let number): self.init(kind: .number, text: "\(number)")
    case .float(let number): self.init(kind: .number, text: "\(number)")
    case .double(let number): self.init(kind: .number, text: "\(number)")
    case .decimal(let number): self.init(kind: .number, text: "\(number)")
    case .string(let text): self.init(kind: .text, text: Self.shortened(text, to: limit))
    case .date(let date):
      self.init(
        kind: .date,
        text: WireDate.text(date) ?? "\(date.timeIntervalSinceReferenceDate) s after 2001")
    case .data(let data):
      let address = bytes()
      self.init(
        kind: .bytes, text: Readable.bytes(data.count), target: address,
        picture: PictureFormat(of: data) == nil ? nil : address)
    case .uuid(let uuid): self.init(kind: .text, text: uuid.uuidString)
    case .url(let url): self.init(kind: .text, text: Self.shortened(url.absoluteString, to: limit))
    }
  }

  init(kind: Kind, text: String, target: String? = nil, picture: String? = nil) {
    self.kind = kind
    style = kind.rawValue
    isNone = kind == .none
    self.text = text
    self.target = target
    self.picture = picture
  }

  static func shortened(_ text: String, to limit: Int) -> String {
    guard let end = text.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex),
      end < text.endIndex
    else { return text }
    return text[..<end] + "…"
  }
}

/// The formats of pictures that browsers show, by the first bytes.
enum PictureFormat: String {
  case png = "image/png"
  case jpeg = "image/jpeg"
  case gif = "image/gif"
  case webp = "image/webp"

  init?(of data: Data) {
    let head = [UInt8](data.prefix(12))
    if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if head.starts(with: Array("GIF8".utf8)) {
      self = .gif
    } else if head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).elementsEqual("WEBP".utf8) {
      self = .webp
    } else {
      return nil
    }
  }
}
