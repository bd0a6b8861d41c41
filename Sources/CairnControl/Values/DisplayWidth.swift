// How wide text is where every character has the same width.

/// Columns on a terminal or in a monospaced font.
public enum DisplayWidth {
  /// Wide East Asian characters and emoji take two, marks that stand on another character none.
  public static func columns(_ text: String) -> Int {
    text.reduce(0) { sum, character in
      guard let scalar = character.unicodeScalars.first else { return sum }
      if scalar.value < 0x300 { return sum + 1 }
      if [.nonspacingMark, .enclosingMark].contains(scalar.properties.generalCategory) {
        return sum
      }
      // Two letters that stand for a flag are one character.
      if scalar.properties.isEmojiPresentation { return sum + 2 }
      switch scalar.value {
      case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
        return sum + 2
      default: return sum + 1
      }
    }
  }
}
