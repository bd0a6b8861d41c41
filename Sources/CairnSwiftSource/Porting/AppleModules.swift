/// Modules of Apple's platforms that Linux lacks, and how the names in them begin.
enum AppleModules {
  static func reason(_ module: String) -> String? {
    if let other = advice[module] { return "there is no \(module) on Linux; \(other)" }
    return names[module] != nil
      ? "there is no \(module) on Linux; move what needs it behind #if canImport(\(module))" : nil
  }

  static func isMissing(_ module: String) -> Bool { module == "Combine" || reason(module) != nil }

  /// Whether a name may be of the module: nil where its names are not known.
  static func has(_ name: String, in module: String) -> Bool? {
    guard let beginnings = names[module], !beginnings.isEmpty else { return nil }
    if present.contains(name) { return false }
    if module == "SwiftUI", swiftUI.contains(name) { return true }
    return beginnings.contains { beginning in
      guard name.hasPrefix(beginning) else { return false }
      // `CG` begins `CGImage` and not `CGMManager`.
      guard beginning.count < 4, beginning.allSatisfy(\.isUppercase) else { return true }
      let rest = name.dropFirst(beginning.count).prefix(2)
      return rest.first?.isUppercase == true && rest.last?.isLowercase == true
    }
  }

  /// The modules with which programs make their user interface.
  static let ofUserInterface = ["UIKit", "SwiftUI", "AppKit", "Cocoa", "WatchKit", "WidgetKit"]

  private static let advice = [
    "os": "use the package swift-log", "OSLog": "use the package swift-log",
    "ObjectiveC": "nothing replaces the Objective-C runtime",
    "CryptoKit": "use the package swift-crypto",
  ]

  /// What Foundation on Linux, or Cairn, has of these names.
  private static let present: Set<String> = [
    "CGFloat", "CGPoint", "CGRect", "CGSize", "NSDiffableDataSourceSnapshotReference",
  ]

  /// How the names of modules begin; nothing where that is not known, or not worth a list.
  private static let names: [String: [String]] = [
    "os": ["Logger", "os_", "OS"], "OSLog": ["Logger", "os_", "OS"], "CryptoKit": [],
    "ObjectiveC": [],
    "UIKit": [
      "UI", "CG", "CA", "CI", "NSLayout", "NSDiffable", "NSCollection", "NSText", "NSParagraph",
      "NSMutableParagraph", "NSItemProvider", "NSDirectional", "NSShadow", "NSDataAsset",
      "NSStringDrawing", "NSUserActivity",
    ],
    "AppKit": appKit, "Cocoa": appKit, "WatchKit": ["WK"],
    "SwiftUI": ["UI", "CG", "SectionedFetch", "ToolbarItem"],
    "WidgetKit": ["Widget", "Timeline"], "CloudKit": ["CK"], "SwiftData": [],
    "CoreSpotlight": ["CS"], "WatchConnectivity": ["WC"], "CoreGraphics": ["CG"],
    "CoreLocation": ["CL"], "MapKit": ["MK", "CL"], "Photos": ["PH"], "PhotosUI": ["PH", "Photos"],
    "AVFoundation": ["AV", "CM", "CV"], "AVKit": ["AV", "CM"], "CoreMedia": ["CM"],
    "QuartzCore": ["CA", "CG"], "CoreImage": ["CI", "CG"], "UserNotifications": ["UN"],
    "UserNotificationsUI": ["UN"], "MobileCoreServices": ["UT", "kUT"],
    "CoreServices": ["UT", "kUT"],
    "UniformTypeIdentifiers": ["UT"], "Security": ["Sec", "kSec", "err"],
    "StoreKit": ["SK", "Product", "Transaction", "AppStore"], "Darwin": [],
    "GameplayKit": ["GK"], "HealthKit": ["HK"], "WebKit": ["WK"], "Intents": ["IN"],
    "IntentsUI": ["IN"], "AppIntents": [], "SafariServices": ["SF"], "BackgroundTasks": ["BG"],
    "MediaPlayer": ["MP"], "AuthenticationServices": ["AS"], "LocalAuthentication": ["LA"],
    "LinkPresentation": ["LP"], "NaturalLanguage": ["NL"], "Network": ["NW"],
    "SystemConfiguration": ["SC", "kSC"], "CoreTelephony": ["CT"], "CoreBluetooth": ["CB"],
    "Contacts": ["CN"], "ContactsUI": ["CN"], "EventKit": ["EK"], "EventKitUI": ["EK"],
    "MessageUI": ["MF"], "QuickLook": ["QL"], "CoreML": ["ML"], "Vision": ["VN"], "ARKit": ["AR"],
    "SpriteKit": ["SK"], "SceneKit": ["SCN"], "CoreMotion": ["CM"], "CoreText": ["CT", "kCT"],
    "PDFKit": ["PDF"], "ImageIO": ["CGImage", "kCGImage"], "VideoToolbox": ["VT"], "TipKit": [],
    "Accelerate": ["v"], "AudioToolbox": ["Audio", "kAudio"], "CarPlay": ["CP"], "PassKit": ["PK"],
    "AdSupport": ["AS"], "CallKit": ["CX"], "PushKit": ["PK"], "GameKit": ["GK"], "Charts": [],
    "ActivityKit": ["Activity"], "MetricKit": ["MX"], "ScreenTime": ["ST"], "DeviceCheck": ["DC"],
    "ExtensionKit": [], "ServiceManagement": ["SM"], "IOKit": ["IO", "kIO"], "Speech": ["SF"],
    "ShazamKit": ["SH"], "MultipeerConnectivity": ["MC"], "CoreHaptics": ["CH"],
    "JavaScriptCore": ["JS"], "CommonCrypto": ["CC", "kCC"], "FileProvider": ["NSFileProvider"],
    "OSAKit": ["OSA"], "ImagePlayground": [], "FoundationModels": [], "Translation": [],
  ]
  private static let swiftUI: Set<String> = [
    "View", "Color", "Image", "Text", "Binding", "State", "StateObject", "Environment",
    "EnvironmentObject", "EnvironmentValues", "EnvironmentKey", "ObservedObject", "Bindable",
    "FetchRequest", "FetchedResults", "AppStorage", "SceneStorage", "App", "Scene", "Font",
    "Animation", "withAnimation", "NavigationPath", "LocalizedStringKey", "PreviewProvider",
    "ScenePhase", "Angle", "Gradient", "Namespace", "FocusState", "Gesture", "ViewModifier",
    "ViewBuilder", "AnyView", "EdgeInsets", "GeometryReader", "GeometryProxy", "Label", "Button",
    "ForEach", "DynamicProperty", "PreferenceKey", "ColorScheme", "UnitPoint", "ContentMode",
  ]
  private static let appKit = [
    "NSView", "NSWindow", "NSApp", "NSColor", "NSImage", "NSFont", "NSTable", "NSOutline", "NSMenu",
    "NSText", "NSButton", "NSAlert", "NSWorkspace", "NSPasteboard", "NSEvent", "NSScreen",
    "NSLayout",
    "NSDocument", "NSController", "NSArrayController", "NSOpenPanel", "NSSavePanel", "NSStack",
    "NSScroll", "NSCollection", "NSDiffable", "NSControl", "NSCell", "NSBezier", "NSRunning", "CG",
    "CA", "NSToolbar", "NSStatus", "NSSplit", "NSTab", "NSParagraph", "NSMutableParagraph",
    "NSCursor", "NSPanel", "NSPopover", "NSItemProvider", "NSShadow", "NSUserActivity", "NSNib",
  ]
}
